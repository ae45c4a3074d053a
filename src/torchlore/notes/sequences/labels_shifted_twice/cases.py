import torch
from torch import nn
from torch.utils.data import Dataset


class Text(Dataset):
    def __init__(self, ids):
        self.ids = ids

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        row = self.ids[i]
        return row[:-1], row[1:].long()


def lm_loss(logits, labels):
    shift_logits = logits[..., :-1, :].contiguous()
    shift_labels = labels[..., 1:].contiguous()  # trap: labels-shifted-twice
    return nn.functional.cross_entropy(shift_logits.view(-1, logits.size(-1)), shift_labels.view(-1))


def of_the_inputs(logits, ids):
    return nn.functional.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:])


def train(model, loader, optimizer):
    for x, y in loader:
        logits = model(x)
        loss = lm_loss(logits, y) + of_the_inputs(logits, x) + nn.functional.cross_entropy(logits.transpose(1, 2), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def whole(model, batch):
    logits = model(batch)
    return nn.functional.cross_entropy(logits[:, :-1].transpose(1, 2), batch[:, 1:]), torch.no_grad
