import torch.nn.functional as F
from torch import nn


def train(model, loader, opt, pad_idx, size):
    crit = nn.CrossEntropyLoss()  # trap: padding-in-the-loss
    embed = nn.Embedding(size, 8, padding_idx=pad_idx)
    for src, trg in loader:
        out = model(embed(src), trg[:, :-1])
        loss = crit(out.reshape(-1, out.shape[-1]), trg[:, 1:].reshape(-1))
        other = F.cross_entropy(out.flatten(0, 1), trg[:, 1:].flatten())  # trap: padding-in-the-loss
        opt.zero_grad()
        (loss + other).backward()
        opt.step()


def labels(model, loader, opt):
    crit = nn.CrossEntropyLoss()
    for x, y in loader:
        opt.zero_grad()
        crit(model(x), y).backward()
        opt.step()
