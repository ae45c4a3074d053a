"""Other spellings of dice-sums-raw-scores, and code that only looks like it."""
import torch
from torch import nn


class Iou(nn.Module):
    def forward(self, pred, target):
        both = (torch.sigmoid(pred) * target).flatten(1).sum(-1)
        whole = pred.flatten(1).sum(-1) + target.flatten(1).sum(-1) - both  # trap: dice-sums-raw-scores
        return 1 - ((both + 1) / (whole + 1)).mean()


def at_once(out, mask):
    return 1 - 2 * (out.sigmoid() * mask).sum() / (out.sum() + mask.sum())  # trap: dice-sums-raw-scores


def right(out, mask):
    p = out.sigmoid()
    return 1 - 2 * (p * mask).sum() / (p.sum() + mask.sum())


def bound_again(out, mask):
    inter = (torch.sigmoid(out) * mask).sum()
    out = torch.sigmoid(out)
    return 1 - 2 * inter / (out.sum() + mask.sum())


def attention(score, x):
    gate = (score.sigmoid() * x).sum(1)
    return gate / (x.sum(1) + 1), score.sum(1)
