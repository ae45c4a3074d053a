import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.scale = (dim // heads) ** -0.5
        self.root = math.sqrt(dim // heads)
        self.emb = nn.Embedding(10, dim)

    def forward(self, q, k, ids):
        a = torch.matmul(q, k.transpose(-2, -1)) / self.scale  # trap: attention-scale-inverted
        b = torch.einsum("bhid,bhjd->bhij", q, k) * self.root  # trap: attention-scale-inverted
        c = torch.matmul(q, k.transpose(-2, -1)) * self.scale
        d = torch.matmul(q, k.transpose(-2, -1)) / self.root
        e = self.emb(ids) * self.root
        return a, b, c, d, e


def temperature(features, other, scale):
    return features @ other.t() / scale
