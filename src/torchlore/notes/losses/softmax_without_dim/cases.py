import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import LogSoftmax

head = nn.Linear(4, 3)
a = nn.Sequential(head, nn.Softmax())  # trap: softmax-without-dim
b = LogSoftmax()  # trap: softmax-without-dim


def bad(x):
    p = F.log_softmax(x)  # trap: softmax-without-dim
    scores = head(x)
    q = F.softmax(scores, dim=0)  # trap: softmax-without-dim
    r = torch.softmax(head(x), 0)  # trap: softmax-without-dim
    return p, q, r


def fine(x, weights, options):
    a = F.softmax(x, dim=1) + F.softmax(x, -1) + F.softmax(x, **options)
    b = F.softmax(weights, dim=0)  # a vector of weights
    c = nn.Softmax(dim=1)(x) + nn.Softmax(-1)(x) + nn.Softmax2d()(x)
    d = torch.softmax(torch.randn(5), 0)
    return a, b, c, d


def rows(x, fc):
    x = fc(x.view(x.size(0), -1))
    return F.softmax(x)  # trap: softmax-without-dim


def one_column(x):
    return F.softmax(head(x))[:, 1]  # trap: softmax-without-dim


def one_frame(frames):
    scores = head(frames[0])
    return F.log_softmax(scores, dim=0), F.log_softmax(head(frames[0]), dim=0)


class OneWindow(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.attention = nn.Sequential(nn.Linear(n, 5), nn.Softmax(dim=0))
        self.rest = nn.Sequential(nn.Linear(n, 5), nn.Softmax(dim=0))
        self.head = nn.Sequential(nn.Linear(n, 5), nn.Softmax(dim=0))  # trap: softmax-without-dim

    def forward(self, x):
        return self.attention(x) * self.rest(x).view(5, 1) * self.head(x)


class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax()  # trap: softmax-without-dim

    def forward(self, a, b):
        return self.softmax(torch.mm(a, b.transpose(0, 1)))
