import numpy as np
import torch


def lists(loader, model):
    preds, labels = [], []
    for x, y in loader:
        preds.extend(model(x).argmax(1).tolist())
        labels.extend(y.tolist())
    return np.mean(preds == labels)  # trap: accuracy-of-lists


def listed(a: torch.Tensor, b: torch.Tensor):
    return np.sum(a.tolist() == b.tolist()) / len(a)  # trap: accuracy-of-lists


def literal(a: torch.Tensor):
    truth = [0, 1, 1]
    return np.mean(truth != a.tolist())  # trap: accuracy-of-lists


def clean(preds, labels, a: torch.Tensor, b: torch.Tensor):
    first, second = list(range(3)), [1, 2, 3]
    if first == second:
        return 1.0
    one = np.mean(np.array(first) == np.array(second))
    two = np.mean(preds == labels)
    three = np.mean(np.array(first) == second)
    four = np.mean([p == q for p, q in zip(first, second)])
    five = (a == b).float().mean()
    return one + two + three + four + five
