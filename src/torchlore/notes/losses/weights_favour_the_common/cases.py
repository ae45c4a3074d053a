import torch
from torch import nn


def turned_round(y):
    num_pos, num_neg = (y == 1).sum(), (y == 0).sum()
    return nn.BCEWithLogitsLoss(pos_weight=num_pos / num_neg)  # trap: weights-favour-the-common


def shares(class_counts, device):
    weights = torch.tensor(class_counts / sum(class_counts)).to(device)  # trap: weights-favour-the-common
    return nn.CrossEntropyLoss(weight=weights)


def right(y, counts):
    num_pos, num_neg = (y == 1).sum(), (y == 0).sum()
    one = nn.BCEWithLogitsLoss(pos_weight=num_neg / num_pos)
    two = nn.CrossEntropyLoss(weight=1.0 / counts)
    three = nn.CrossEntropyLoss(weight=1 - counts / counts.sum())
    return one, two, three, nn.CrossEntropyLoss(weight=counts.sum() / counts)


def listed(labels, k):
    counts = [labels.count(c) for c in range(k)]
    return torch.tensor([counts[c] / len(labels) for c in range(k)])  # trap: weights-favour-the-common


def inverse(labels, k):
    counts = [labels.count(c) for c in range(k)]
    return torch.tensor([len(labels) / counts[c] for c in range(k)])


def weighed(labels, k):
    return nn.CrossEntropyLoss(weight=listed(labels, k)), nn.CrossEntropyLoss(weight=inverse(labels, k))


def drawn(labels, n):
    counts = torch.bincount(labels)
    weights = counts.float()[labels]  # trap: weights-favour-the-common
    return torch.utils.data.WeightedRandomSampler(weights, n)


def drawn_one_by_one(labels, freq, n):
    weights = torch.tensor([freq[y] for y in labels])  # trap: weights-favour-the-common
    return torch.utils.data.WeightedRandomSampler(weights, n)


def drawn_evenly(labels, n):
    counts = 1.0 / torch.bincount(labels).float()
    return torch.utils.data.WeightedRandomSampler(counts[labels], n)
