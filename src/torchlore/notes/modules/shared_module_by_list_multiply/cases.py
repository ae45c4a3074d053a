import copy

import torch.nn as nn
from torch.nn import ModuleList


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)


class Bad(nn.Module):
    def __init__(self, n, depth):
        super().__init__()
        layer = Block(n)
        self.a = ModuleList([layer] * depth)  # trap: shared-module-by-list-multiply
        self.b = nn.Sequential(*([Block(n)] * 3))  # trap: shared-module-by-list-multiply
        self.c = nn.ModuleList([layer for _ in range(depth)])  # trap: shared-module-by-list-multiply
        down = [Block(n) for _ in range(depth)]
        up = down  # trap: shared-module-by-list-multiply
        self.down, self.up = nn.ModuleList(down), nn.ModuleList(up[::-1])


class Fine(nn.Module):
    def __init__(self, n, depth, layers):
        super().__init__()
        layer = Block(n)
        self.a = nn.ModuleList([Block(n) for _ in range(depth)])
        self.b = nn.ModuleList(copy.deepcopy(layer) for _ in range(depth))
        self.c = nn.Sequential(*[nn.ReLU()] * 2)
        self.d = nn.ModuleList([one for one in layers])
        self.sizes = [n] * depth
        down = [Block(n) for _ in range(depth)]
        up = copy.deepcopy(down)
        names = down
        self.down, self.up, self.count = nn.ModuleList(down), nn.ModuleList(up), len(names)


class Shared(nn.Module):
    def __init__(self, n, depth, share_head):
        super().__init__()
        if share_head:
            head = Block(n)
            self.heads = nn.ModuleList([head] * depth)
        shared = Block(n)
        self.more = nn.ModuleList([shared for _ in range(depth)])


def ensemble(n):
    base = nn.Linear(4, 1)
    act = nn.ReLU()
    members, layers = [], []
    for _ in range(n):
        members.append(base)  # trap: shared-module-by-list-multiply
        fresh = nn.Linear(4, 4)
        layers.append(fresh)
        layers.append(act)
    return members, layers


def chosen(n, ready):
    base = nn.Linear(4, 1)
    kept = []
    for i in range(n):
        if i in ready:
            kept.append(base)
    return kept


def chosen(shared, n):
    if shared:
        return nn.Sequential(*[nn.Linear(4, 4)] * n)
    return nn.Sequential(*[nn.Linear(4, 4) for _ in range(n)])


class TiedStack(nn.Module):
    def __init__(self, n, depth):
        super().__init__()
        block = Block(n)
        self.blocks = nn.ModuleList([block] * depth)
        self.again = nn.ModuleList(block for _ in range(depth))


class Refiner(nn.Module):
    """One block, looped over until the picture is sharp."""

    def __init__(self, n):
        super().__init__()
        self.steps = nn.Sequential(*[Block(n)] * 4)
