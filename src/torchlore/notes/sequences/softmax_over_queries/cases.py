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


class Pool(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score, self.share = nn.Linear(width, 1), nn.Softmax(dim=0)  # trap: softmax-over-queries

    def forward(self, x):
        weights = self.share(self.score(x).squeeze(-1))
        return torch.bmm(weights.unsqueeze(1), x)


def of_time_first(scores, outputs):
    weights = F.softmax(scores, dim=0)
    return torch.bmm(weights.t().unsqueeze(1), outputs.transpose(0, 1))


def of_one(scores, outputs):
    weights = F.softmax(scores, dim=0)
    return torch.bmm(weights.unsqueeze(0).unsqueeze(0), outputs.unsqueeze(0))


class Pooled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, x):
        weights = torch.softmax(self.score(x), dim=0)  # trap: softmax-over-queries
        return (weights * x).sum(dim=1)

    def right(self, x):
        weights = torch.softmax(self.score(x), dim=1)
        return (weights * x).sum(dim=1)

    def time_first(self, x):
        weights = torch.softmax(self.score(x), 0)
        return torch.sum(weights * x, dim=0)


def routing(u):
    votes = torch.zeros(u.shape[0], u.shape[1], 1)
    for _ in range(3):
        share = torch.softmax(votes, dim=0)
        out = (share * u).sum(dim=1, keepdim=True)
        votes = votes + (out * u).sum(-1, keepdim=True)
    return out


class InARow(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1), nn.Softmax(dim=0))  # trap: softmax-over-queries
        self.attend = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1), nn.Softmax(dim=1))

    def forward(self, x):
        weights, right = self.score(x), self.attend(x)
        return torch.sum(weights * x, dim=1) + torch.sum(right * x, dim=1)


def with_heads(q, k, v, dk):
    scores = (q @ k.transpose(-2, -1)) * dk**-0.5
    over_queries = scores.softmax(dim=-2)  # trap: softmax-over-queries
    over_keys = scores.softmax(dim=-1)
    also = (q @ k.mT).softmax(-2)  # trap: softmax-over-queries
    return over_queries @ v + over_keys @ v + also @ v + (scores.softmax(dim=-2)).transpose(-2, -1) @ q


def slots_compete(slots, keys, v):
    share = (slots @ keys.transpose(-2, -1)).softmax(dim=-2)
    return share @ v
