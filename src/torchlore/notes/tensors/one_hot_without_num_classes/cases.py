"""Other spellings of one-hot-without-num-classes, and code that only looks like it."""
import torch
from torch import nn
from torch.nn.functional import one_hot


def loss(logits, y):
    target = nn.functional.one_hot(y)  # trap: one-hot-without-num-classes
    hard = one_hot(logits.argmax(1), -1)  # trap: one-hot-without-num-classes
    return ((logits - target - hard) ** 2).mean()


def masks(labels: torch.Tensor):
    return torch.nn.functional.one_hot(labels.long(), num_classes=-1).float()  # trap: one-hot-without-num-classes


# clean
def fine(y, n, **options):
    a = one_hot(y, n)
    b = one_hot(y, num_classes=int(y.max()) + 1)
    c = one_hot(y, **options)
    d = one_hot(torch.arange(n))
    e = one_hot(torch.tensor([0, 1, 2]))
    return a, b, c, d, e


class Conditioned(nn.Module):
    def condition(self, label):
        return one_hot(label).float()  # trap: one-hot-without-num-classes

    def forward(self, x, label):
        return torch.cat([x, self.condition(label)], dim=1)
