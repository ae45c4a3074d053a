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


class Heads(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        self.embed_size, self.heads = embed_size, heads
        self.head_dim = embed_size // heads
        self.q = nn.Linear(embed_size, embed_size)
        self.k = nn.Linear(embed_size, embed_size)

    def forward(self, x):
        n, t, _ = x.shape
        q = self.q(x).reshape(n, t, self.heads, self.head_dim)
        k = self.k(x).reshape(n, t, self.heads, self.head_dim)
        energy = torch.einsum("nqhd,nkhd->nhqk", [q, k])
        flat = energy / self.embed_size**0.5  # trap: attention-scale-inverted
        return flat, energy / self.head_dim**0.5

    def in_place(self, x):
        B, T, C = x.shape
        q = self.q(x).view(B, T, self.heads, C // self.heads).transpose(1, 2)
        k = self.k(x).view(B, T, self.heads, C // self.heads).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(C))  # trap: attention-scale-inverted
        return att, (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))


class OneHead(nn.Module):
    def __init__(self, n_embd, head_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * C**-0.5  # trap: attention-scale-inverted
        return wei, q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5


class Single(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.key, self.query = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.shape
        return self.query(x) @ self.key(x).transpose(-2, -1) / C**0.5
