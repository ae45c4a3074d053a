import torch
import torch.nn.functional as F
from torch import nn


class Matcher(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.text, self.image = nn.Linear(10, dim), nn.Linear(12, dim)

    def tokens(self, words, regions):
        w = F.normalize(self.text(words))  # trap: normalize-along-the-tokens
        r = F.normalize(self.image(regions), p=2)  # trap: normalize-along-the-tokens
        return torch.bmm(w, r.transpose(1, 2))

    def products(self, words, regions):
        r = F.normalize(self.image(regions))  # trap: normalize-along-the-tokens
        return F.normalize(self.text(words), dim=2) @ r.transpose(1, 2)

    def rows(self, words, regions):
        w, r = F.normalize(self.text(words)), F.normalize(self.image(regions), dim=1)
        return w @ r.t()

    def sums(self, words, regions):
        w = F.normalize(self.text(words))
        return torch.einsum("nd,md->nm", w, F.normalize(self.image(regions)))


def channels(maps):
    c = F.normalize(maps)
    return torch.einsum("bcn,bcm->bnm", c, c)


def affinity(maps):
    f = F.normalize(maps.flatten(2))
    return torch.bmm(f.transpose(1, 2), f)


def attended(scores, x):
    v = F.normalize(x)
    return scores @ v, F.normalize(x.flatten(1))


class Late(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.emb, self.lin = nn.Embedding(60, dim), nn.Linear(dim, dim, bias=False)

    def encode(self, ids):
        return F.normalize(self.lin(self.emb(ids)))  # trap: normalize-along-the-tokens

    def pooled(self, ids):
        return F.normalize(self.lin(self.emb(ids).mean(1)))

    def forward(self, query, docs):
        scores = torch.einsum("qid,kjd->qkij", self.encode(query), self.encode(docs))
        return scores.amax(3).sum(2), self.pooled(query) @ self.pooled(docs).t()


def unit(x):
    x = F.normalize(x)  # trap: normalize-along-the-tokens
    return x


def matched(words, regions):
    w, r = unit(words), unit(regions)
    return w @ r.transpose(1, 2)
