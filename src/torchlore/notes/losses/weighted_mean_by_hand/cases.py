import torch
import torch.nn as nn
import torch.nn.functional as F

weight = torch.tensor([1.0, 2.0])
criterion = nn.NLLLoss(weight, reduction="none")
plain = nn.CrossEntropyLoss(reduction="none")
averaged = nn.CrossEntropyLoss(weight=weight)


def losses(x, y, mask, w):
    a = criterion(x, y).mean()  # trap: weighted-mean-by-hand
    b = F.cross_entropy(x, y, weight=weight, reduction="none").mean()  # trap: weighted-mean-by-hand
    each = F.cross_entropy(x, y, weight, reduction="none")
    c = each.mean()  # trap: weighted-mean-by-hand
    d = plain(x, y).mean()
    e = averaged(x, y)
    f = (each * mask).sum() / mask.sum()
    g = each.mean(0)
    h = F.cross_entropy(x, y, weight=None, reduction="none").mean()
    i = F.cross_entropy(x, y, weight=w, reduction="none").mean()  # w may be None
    return a, b, c, d, e, f, g, h, i
