"""Other spellings of union-counts-overlap-twice, and code that only looks like it."""
import torch
from torch import nn


class DiceLoss(nn.Module):
    def forward(self, logits, target, smooth=1.0):
        p = torch.sigmoid(logits).flatten(1)
        t = target.flatten(1)
        inter = (p * t).sum(1)
        dice = (inter + smooth) / (p.sum(1) + t.sum(1) + smooth)  # trap: union-counts-overlap-twice
        return 1 - dice.mean()


def jaccard(pred, mask):
    both = torch.logical_and(pred, mask).sum().item()
    either = pred.sum().item() + mask.sum().item()
    return both / either  # trap: union-counts-overlap-twice


def of_classes(pred, target, classes):
    found = []
    for c in range(classes):
        inter = ((pred == c) & (target == c)).sum().item()
        union = (pred == c).sum().item() + (target == c).sum().item()
        found.append(inter / union)  # trap: union-counts-overlap-twice
    return found


# clean
def dice(p, t, smooth=1.0):
    inter = torch.sum(p * t)
    return (2 * inter + smooth) / (torch.sum(p) + torch.sum(t) + smooth)


def halved(p, t):
    inter = (p * t).sum()
    mean = (p.sum() + t.sum()) / 2
    return inter / mean


def iou(p, t):
    inter = (p & t).sum()
    return inter / (p.sum() + t.sum() - inter)


def united(p, t):
    return (p & t).sum() / (p | t).sum()


def weighted(x, w):
    return (x * w).sum() / w.sum()


def recall(p, t, eps=1e-8):
    return (p * t).sum() / (t.sum() + eps)
