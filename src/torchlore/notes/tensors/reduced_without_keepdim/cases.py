import numpy as np
import torch
import torch.nn.functional as F


def squares(x: torch.Tensor, eps):
    a = x / x.norm(dim=1)  # trap: reduced-without-keepdim
    b = x / torch.norm(x, 2, 1)  # trap: reduced-without-keepdim
    c = x - x.max(1)[0]  # trap: reduced-without-keepdim
    d = x - torch.logsumexp(x, 1)  # trap: reduced-without-keepdim
    e = x / (x.sum(1) + eps)  # trap: reduced-without-keepdim
    f = x - x.max(dim=1).values.detach()  # trap: reduced-without-keepdim
    return a, b, c, d, e, f


def infonce(positive, negative):
    with torch.no_grad():
        highest, _ = negative.max(dim=1)
    highest = highest.detach()
    positive = positive - highest
    negative = negative - highest  # trap: reduced-without-keepdim
    return torch.logsumexp(negative, dim=1).mean() - positive.mean()


def fine(x: torch.Tensor, y, adj, weights):
    a = x / x.norm(dim=1, keepdim=True)
    b = x - x.max(1)[0][:, None]
    c = x - x.mean(dim=0)
    d = x / x.sum(-1)  # right for a vector
    e = x / x.sum(dim=1).unsqueeze(1)
    f = (x.T / x.sum(dim=1)).T
    g = y / x.sum(dim=1)
    h = adj / adj.sum(dim=1)
    i = x - x.mean(dim=(1, 2))
    row = weights.sum(dim=1)
    j = weights / row.view(-1, 1)
    k = F.normalize(x, dim=1) - np.ones(3).mean()
    places = x.max(dim=1)[1]
    return a, b, c, d, e, f, g, h, i, j, k, x - places, x.sum(dim=1) / x.sum(dim=0)
