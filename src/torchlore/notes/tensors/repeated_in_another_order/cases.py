"""Other spellings of repeated-in-another-order, and code that only looks like it."""
import torch
import torch.nn.functional as F


def generations(model, batch, num_generations):
    ids = batch["ids"].repeat_interleave(num_generations, dim=0)
    features = batch["features"].repeat(num_generations, 1, 1)  # trap: repeated-in-another-order
    return model(ids, features)


def joined(decoder, z, cond, beams):
    z = torch.repeat_interleave(z, beams, dim=0)
    cond = cond.repeat(beams, 1)  # trap: repeated-in-another-order
    return decoder(torch.cat([z, cond], dim=-1))


def all_pairs(x, y, k):
    n, m = x.size(0), y.size(0)
    left, right = x.repeat_interleave(m, dim=0), y.repeat(n, 1)
    first, second = x.repeat_interleave(n, dim=0), x.repeat(n, 1)
    return (left - right).norm(dim=1), (first - second).norm(dim=1)


def turned(x, y, k):
    one = x.repeat_interleave(k, dim=0).view(-1, k, 3)
    other = y.repeat(k, 1).view(k, -1, 3).transpose(0, 1)
    return F.mse_loss(one, other)


def apart(x, y, k, net, other):
    one, two = x.repeat_interleave(k, dim=0), y.repeat(k, 1)
    both = torch.cat([one, two], dim=0)
    return net(one), other(two), both


def alike(x, y, k):
    return F.mse_loss(x.repeat(k, 1), y.repeat(k, 1)) + F.mse_loss(x.repeat_interleave(k, dim=0), y.repeat_interleave(k, dim=0))
