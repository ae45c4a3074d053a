import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=1)
        self.last = nn.Softmax(dim=2)
        self.drop = nn.Dropout(0.1)

    def forward(self, q, k, v):
        attn = torch.bmm(q, k.transpose(1, 2)) / 4.0
        attn = self.softmax(attn)  # trap: softmax-over-queries
        attn = self.drop(attn)
        return torch.bmm(attn, v)

    def right(self, q, k, v):
        attn = self.last(torch.bmm(q, k.transpose(1, 2)))
        return torch.bmm(attn, v)


def by_hand(q, k, v):
    w = F.softmax(q @ k.transpose(1, 2), dim=1)  # trap: softmax-over-queries
    return w @ v


def slots(q, k, v):
    attn = F.softmax(torch.bmm(q, k.transpose(1, 2)), dim=1)
    attn = attn / attn.sum(-1, keepdim=True)
    return torch.bmm(attn, v)


def both_ways(q, k, v):
    scores = torch.bmm(q, k.transpose(1, 2))
    column = F.softmax(scores, dim=1)
    return torch.bmm(column.transpose(1, 2), q), F.softmax(scores, dim=2) @ v
