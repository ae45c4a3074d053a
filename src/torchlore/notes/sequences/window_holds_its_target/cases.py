"""Other spellings of window-holds-its-target, and code that only looks like it."""

import torch


def pairs(data, n):
    xs, ys = [], []
    for i in range(len(data) - n):
        xs.append(data[i : i + n])
        ys.append(data[i + n - 1])  # trap: window-holds-its-target
    return torch.stack(xs), torch.stack(ys)


class Ends:
    def __getitem__(self, i):
        end = i + self.n
        return self.data[i:end], self.data[end - 1]  # trap: window-holds-its-target


# clean
def right(data, n):
    xs, ys, last = [], [], []
    for i in range(len(data) - n):
        xs.append(data[i : i + n])
        ys.append(data[i + n])
        last.append(data[i + n - 1])
    return xs, ys, last


class Labels:
    def __getitem__(self, i):
        return self.data[i : i + self.n], self.labels[i + self.n - 1]


class Columns:
    def __getitem__(self, i):
        return self.data[i : i + self.n, 1:], self.data[i + self.n - 1, 0]


class Longer:
    def __getitem__(self, i):
        end = i + self.n
        return self.data[i:end], self.data[end - 1 : end + 5], self.data[end - 1]


def shown(data, i, n):
    print(data[i : i + n], data[i + n - 1])
