import torch
from torch.nn import functional as F


def weights_for(target, counts):
    target = target.long()
    w = torch.zeros_like(target)  # trap: fractions-in-integer-tensor
    for c, n in enumerate(counts):
        w[target == c] = 1.0 / n
    return w


def smooth(target, k, eps=0.1):
    hot = F.one_hot(target, k)
    soft = torch.zeros_like(hot).fill_(eps / (k - 1))  # trap: fractions-in-integer-tensor
    soft.scatter_(1, target.unsqueeze(1), 1 - eps)
    return soft


def by_index(target, keep):
    picked = keep.gather(1, target.unsqueeze(1))
    mask = torch.ones_like(target)  # trap: fractions-in-integer-tensor
    mask[picked.squeeze(1)] = 0.5
    return mask


ids = torch.randint(0, 9, (4, 8))
scaled = ids.new_full((4, 8), 0.5)  # trap: fractions-in-integer-tensor


# clean
def fine(x, target, k, eps=0.1):
    a = torch.zeros_like(x)
    a[0] = 0.5
    b = torch.full_like(target.float(), 0.1)
    c = torch.zeros_like(target, dtype=torch.float32)
    c[target == 1] = 0.9
    d = torch.zeros_like(target)
    d[target == 1] = 1
    e = torch.full((4, k), eps / k)
    f = torch.zeros_like(F.one_hot(target, k)).float()
    f[0] = 0.5
    g = torch.full_like(target, -100)
    h = torch.full_like(F.one_hot(target, k).float(), eps)
    return a, b, c, d, e, f, g, h
