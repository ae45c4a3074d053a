import torch
from torch import nn


def at_once(loss, mask):
    return loss.masked_fill(mask, 0).sum() / mask.sum()  # trap: mean-over-the-masked


def kept(loss, mask):
    loss = loss.masked_fill(~mask, 0)
    return loss.sum() / mask.sum()


def other(loss, mask, valid):
    loss = loss.masked_fill(mask, 0)
    return loss.sum() / valid.sum(), torch.sum(loss) / mask.logical_not().sum()


def turned(loss, mask):
    loss = loss.masked_fill(mask, 0)
    mask = ~mask
    return loss.sum() / mask.sum()


def scores(attention, mask):  # no zeros: the softmax takes them out
    attention = attention.masked_fill(mask, float("-inf"))
    return attention.sum() / mask.sum()


def mean_first(logits, y, mask):
    loss = torch.nn.functional.cross_entropy(logits, y)
    return (loss * mask).sum() / mask.sum()  # trap: mean-over-the-masked


def kl(mu, logvar, seq_mask):
    one = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    term = one * seq_mask.float()  # trap: mean-over-the-masked
    return term.sum() / seq_mask.sum()


def each(logits, y, mask, mu):
    loss = torch.nn.functional.cross_entropy(logits, y, reduction="none")
    scale = torch.ones(1).mean()
    return (loss * mask).sum() / mask.sum() + (torch.sum(mu, dim=-1) * mask).sum() / mask.sum() + scale


def whole(pred, target, mask_weight, use_mask):
    return torch.nn.functional.mse_loss(pred, target) * mask_weight + torch.nn.functional.l1_loss(pred, target) * use_mask


class Weighed:
    def __init__(self):
        self.loss, self.each, self.part = nn.CrossEntropyLoss(), nn.CrossEntropyLoss(reduction="none"), 0.1

    def step(self, x, y, w, weight=0.5):
        loss = self.loss(x, y)
        whole = self.each(x, y)
        right = (whole * w).mean() + (loss * self.part).mean() + (loss * weight).mean()
        return right + (loss * w).mean()  # trap: mean-over-the-masked


def by_batch(net, pairs):
    for x, y, trust in torch.utils.data.DataLoader(pairs):
        loss = nn.functional.cross_entropy(net(x), y)
        torch.mean(trust * loss).backward()  # trap: mean-over-the-masked
        (0.5 * loss).mean().backward()
