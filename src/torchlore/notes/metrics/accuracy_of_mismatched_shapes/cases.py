import torch
import torch.nn.functional as F
from torch import nn

criterion = nn.CrossEntropyLoss()


def kept_dimension(out, target):
    loss = F.cross_entropy(out, target)
    pred = out.argmax(dim=1, keepdim=True)
    return loss, (pred == target).sum()  # trap: accuracy-of-mismatched-shapes


def kept_by_max(out: torch.Tensor, target):
    loss = criterion(out, target)
    pred = out.max(1, keepdim=True)[1]
    return loss, pred.eq(target).sum().item()  # trap: accuracy-of-mismatched-shapes


def column_of_labels(out, labels):
    _, pred = torch.max(out, 1)
    return (pred == labels.view(-1, 1)).float().mean()  # trap: accuracy-of-mismatched-shapes


def clean(out, target, labels):
    loss = F.nll_loss(out, target)
    pred = out.argmax(dim=1, keepdim=True)
    a = pred.eq(target.view_as(pred)).sum()
    b = (out.argmax(1) == target).sum()
    c = (pred == labels).sum()
    d = (pred.squeeze(1) == target).sum()
    _, top = out.topk(5, 1)
    e = (top == target.view(-1, 1)).any(1)
    f = (pred == target.unsqueeze(1)).sum()
    return loss, a, b, c, d, e, f


def top_k(out, target, k=5):
    F.cross_entropy(out, target)
    _, pred = out.topk(k, 1, True, True)
    pred = pred.t()
    return pred.eq(target.view(1, -1).expand_as(pred))
