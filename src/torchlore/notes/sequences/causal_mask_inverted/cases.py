import numpy as np
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("bias", torch.tril(torch.ones(size, size)).view(1, 1, size, size))
        self.register_buffer("future", torch.triu(torch.ones(size, size), diagonal=1).bool())

    def forward(self, att, length):
        one = att.masked_fill(self.bias[:, :, :length, :length].bool(), -1e9)  # trap: causal-mask-inverted
        two = att.masked_fill(~self.future[:length, :length], float("-inf"))  # trap: causal-mask-inverted
        three = torch.where(self.future[:length, :length], att, -1e9)  # trap: causal-mask-inverted
        return one, two, three

    def right(self, att, length):
        one = att.masked_fill(self.bias[:, :, :length, :length] == 0, -1e9)
        two = att.masked_fill(self.future[:length, :length], float("-inf"))
        three = torch.where(self.bias[:, :, :length, :length].bool(), att, -1e9)
        four = att.masked_fill(self.bias[:, :, :length, :length].bool(), 0.0)
        return one, two, three, four


def square(size):
    mask = (torch.triu(torch.ones(size, size)) == 1).transpose(0, 1)
    return mask.float().masked_fill(mask == 0, float("-inf")).masked_fill(mask == 1, 0.0)


def subsequent(size):
    return torch.from_numpy(np.triu(np.ones((1, size, size)), k=1).astype("uint8")) == 0


def attend(scores, size):
    right = scores.masked_fill(subsequent(size) == 0, -1e9)
    wrong = scores.masked_fill(past(size), -1e9)  # trap: causal-mask-inverted
    return right, wrong


def past(size):
    return torch.ones(size, size).tril().bool()


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.att = nn.MultiheadAttention(8, 2, batch_first=True)
        layer = nn.TransformerEncoderLayer(8, 2, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1)

    def forward(self, x):
        size = x.size(1)
        mask = torch.tril(torch.ones(size, size, device=x.device)).bool()
        x, _ = self.att(x, x, x, attn_mask=mask)  # trap: causal-mask-inverted
        x, _ = self.att(x, x, x, attn_mask=~mask)
        x = self.encoder(x, mask=mask)  # trap: causal-mask-inverted
        x = nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=mask)
        return self.encoder(x, mask=torch.triu(torch.ones(size, size), diagonal=1).bool())


class Diagonal(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.att = nn.MultiheadAttention(d, 2, batch_first=True)

    def forward(self, h):
        n = h.size(1)
        mask = torch.triu(torch.ones(n, n, dtype=torch.bool))
        right = torch.triu(torch.ones(n, n), diagonal=1).bool()
        wrong, _ = self.att(h, h, h, attn_mask=mask)  # trap: causal-mask-inverted
        again, _ = self.att(h, h, h, attn_mask=torch.triu(torch.ones(n, n)).bool())  # trap: causal-mask-inverted
        return wrong + again + self.att(h, h, h, attn_mask=right)[0]
