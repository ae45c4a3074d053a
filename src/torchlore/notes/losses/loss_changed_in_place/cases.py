import torch
import torch.nn.functional as F


def bad(x, y, z, params):
    loss = F.mse_loss(x, y)
    data = loss
    loss += 0.1 * z.pow(2).sum()  # trap: loss-changed-in-place
    print(data)
    total = F.l1_loss(x, y)
    first = total
    total *= 2  # trap: loss-changed-in-place
    return first.item()


def scaled(x, y, z):
    loss = F.mse_loss(x, y)
    raw = loss
    loss /= z.numel()  # trap: loss-changed-in-place
    return {"raw": raw, "loss": loss}


def fine(x, y, z, items):
    loss = F.mse_loss(x, y)
    data = loss.item()
    loss += 0.1 * z.pow(2).sum()
    count = len(items)
    before = count
    count += 1
    other = F.mse_loss(x, z)
    kept = other
    other = other + 1
    unread = other
    other += 1
    copy = other.clone()
    other += 1
    return data, before, kept, copy
