"""Other spellings of argument-passed-over, and code that only looks like it."""
import torch


class Trainer:
    def __init__(self, lr, size):
        self.lr, self.size, self.name = lr, size, "run"

    def warm(self, optimizer, lr=None):
        if lr is None:
            lr = self.lr  # trap: argument-passed-over
        assert isinstance(optimizer, torch.optim.Optimizer)
        for group in optimizer.param_groups:
            group["lr"] = self.lr

    def cut(self, rows, size=None):
        size = size or self.size  # trap: argument-passed-over
        return [rows[i : i + self.size] for i in range(0, len(rows), self.size)]

    def used(self, rows, size=None):
        size = self.size if size is None else size
        return [rows[i : i + size] for i in range(0, len(rows), self.size)]

    def stored(self, size=None):
        if size is None:
            size = self.size
        self.size = size
        return self.size

    def handed_on(self, rows, size=None, **more):
        size = size or self.size
        return self.cut(rows, size=size) + self.cut(rows, self.size)

    def other(self, name=None):
        name = name or self.name
        return self.size, locals()

    def called_as_it_is(self, state, key):
        state = self.merged(state, key)
        state = {"key": key}
        return self.size
