import torch


class Meter:
    def __init__(self, classes):
        self.hits = [{}] * classes  # trap: one-list-many-times
        self.seen = dict.fromkeys(range(classes), [])  # trap: one-list-many-times
        self.count = [0] * classes
        self.names = [[]] * classes

    def update(self, label, right):
        self.hits[label].update(right)
        self.seen[label].append(right)
        self.count[label] += 1
        self.names[label] = [right]


def table(n, pairs):
    rows = [[0] * n] * n  # trap: one-list-many-times
    fine = [[0] * n for _ in range(n)]
    for i, j in pairs:
        rows[i][j] = 1
        fine[i][j] = 1
    pads = [[0]] * n
    shapes = [(1, 2)] * n
    return rows, fine, [[1, 2]] * n, pads + shapes


def buckets(indices, size):
    kept = [[]] * 9
    for i in indices:
        if not kept[i % 9]:
            kept[i % 9] = []
        kept[i % 9].append(i)
        if len(kept[i % 9]) == size:
            yield kept[i % 9]


def tensors(pairs, classes):
    sums = dict.fromkeys(range(classes), torch.zeros(8))  # trap: one-list-many-times
    counts = [torch.zeros(1)] * classes
    for feature, label in pairs:
        sums[label] += feature
        counts[label] = counts[label] + 1
    return sums, counts, [torch.zeros(3)] * 4
