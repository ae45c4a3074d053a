import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.functional import dropout2d


class Block(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, q, k, v):
        q = F.dropout(q, p=self.rate)  # trap: functional-dropout-always-on
        k = dropout2d(k, 0.1, inplace=True)  # trap: functional-dropout-always-on
        a = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1)  # trap: functional-dropout-always-on
        b = F.scaled_dot_product_attention(q, k, v, dropout_p=self.rate)  # trap: functional-dropout-always-on
        return a + b


class Fine(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, q, k, v):
        q = F.dropout(q, self.rate, self.training)
        k = F.dropout(k, 0.5, training=True)  # Monte Carlo, and says so
        if self.training:
            v = F.dropout(v)
        rate = self.rate if self.training else 0.0
        return F.scaled_dot_product_attention(q, k, v, dropout_p=rate) + F.alpha_dropout(v)

    @staticmethod
    def augment(x):
        return F.dropout(x, 0.2)


class Prenet(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5)


def mask_words(x):
    return F.dropout(x, 0.15)


class Embedder(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args, self.dropout = args, args.dropout
        self.table = nn.Embedding(10, 4)

    def forward(self, words):
        out = self.table(words)
        if self.args.emb_dropout > 0.0:
            out = F.dropout(out, p=self.args.emb_dropout)  # trap: functional-dropout-always-on
        if self.dropout and self.training:
            out = F.dropout(out, p=self.dropout)
        return out


class Turned(nn.Module):
    def forward(self, x):
        x = F.dropout(x, 0.3, self.training)
        return F.dropout(x, 0.3, training=not self.training)  # trap: functional-dropout-always-on


class Sampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.share = 0.0
        self.rate = 0.1

    def draw(self, noise, noise_dropout=0.0, *, more=0):
        noise = F.dropout(noise, p=noise_dropout)
        return F.dropout(noise, more)

    def forward(self, x, share=0.0):
        x = F.scaled_dot_product_attention(x, x, x, dropout_p=self.share)
        x = F.dropout(x, p=share)  # trap: functional-dropout-always-on
        return F.dropout(F.dropout(x, self.share), self.rate)  # trap: functional-dropout-always-on


def attend(x, weight, rate):
    return F.dropout(F.linear(x, weight), p=rate)  # trap: functional-dropout-always-on


def attend_told(x, weight, rate, training):
    return F.dropout(F.linear(x, weight), rate, training)


def corrupt(x):  # an augmentation, called from anywhere
    return F.dropout(x, 0.1)


class Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        return attend(x, self.proj.weight, 0.1) + attend_told(x, self.proj.weight, 0.1, self.training)


def pretrain(net, batches):
    return [net(corrupt(x)) for x in batches]
