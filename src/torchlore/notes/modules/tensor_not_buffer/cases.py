import random

import math

import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, n, weight):
        super().__init__()
        self.index = torch.arange(n)  # trap: tensor-not-buffer
        self.mask = torch.ones(n, n, dtype=torch.bool)  # trap: tensor-not-buffer
        self.means = torch.tensor([0.485, 0.456, 0.406])  # trap: tensor-not-buffer
        self.log_two = torch.tensor(math.log(2.0))
        self.one = torch.tensor(1.0)
        self.placed = torch.zeros(n, device="cuda")
        self.moved = torch.zeros(n)
        self.times = torch.tensor([0.0, 1.0])
        self.weight = torch.ones(n)
        self.criterion = nn.CrossEntropyLoss(weight=self.weight)
        self.register_buffer("steps", torch.zeros(1))
        self.given = weight
        self.cache = None

    def forward(self, x, times=None):
        times = self.times if times is None else times
        x = x + times.to(x.device)
        x = x + self.index + self.one * self.log_two
        x = x.masked_fill(self.mask, 0) - self.means
        return x + self.moved.to(x.device) + self.placed + self.steps + self.given


class Plain:
    def __init__(self):
        self.table = torch.zeros(3)

    def look(self):
        return self.table


class Recall(nn.Module):
    def __init__(self, slots, channels, device):
        super().__init__()
        self.query = nn.Linear(channels, channels)
        self.keys = torch.randn(slots, channels).to(device)  # trap: tensor-not-buffer
        self.fixed = torch.randn(slots, channels, generator=torch.Generator().manual_seed(0)).to(device)
        self.scale = channels**-0.5

    def forward(self, x):
        weights = (self.query(x) @ self.keys.T * self.scale).softmax(-1)
        return weights @ self.fixed


class Drawing(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = torch.zeros(100)

    def forward(self, x):
        return x if random.choice(self.bag) == 0 else -x


class Statistics(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.mean = torch.zeros(n)  # trap: tensor-not-buffer
        self.last = torch.zeros(n)
        self.register_buffer("var", torch.ones(n))

    @torch.no_grad()
    def update(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        self.var = 0.9 * self.var + 0.1 * x.var(0)
        self.last = x[-1]

    def forward(self, x):
        self.update(x)
        return (x - self.mean) / self.var.sqrt() + self.last


class Levels(nn.Module):
    def __init__(self, temperature: float):
        super().__init__()
        self.strides = torch.tensor([8, 16, 32])
        self.schedule = torch.linspace(0.1, temperature, 30)
        self.table = torch.tensor([[8, 16], [16, 32]])  # trap: tensor-not-buffer
        self.betas = torch.linspace(0.1, 0.2, 30)  # trap: tensor-not-buffer

    def forward(self, maps, t, epoch: int):
        out = [x * self.strides[i] + self.table[i] for i, x in enumerate(maps)]
        return out, maps[0] / self.schedule[epoch] * self.betas[t]


class ByHand(nn.Module):
    def __init__(self, columns, n):
        super().__init__()
        self.plain = torch.ones(n, dtype=torch.bool)
        self.plain[columns] = False
        self.before = torch.zeros(n)
        self.running = nn.Parameter(torch.zeros(n), requires_grad=False)

    def keep(self):
        self.before.data = self.running.data.clone()

    def restore(self):
        self.running = nn.Parameter(self.before, requires_grad=False)

    def forward(self, x):
        return [x[:, i] for i, plain in enumerate(self.plain) if plain]


class Wrapped(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.rows_of_it = torch.zeros(n, n)
        self.other = torch.zeros(n, n)  # trap: tensor-not-buffer

    def forward(self, x):
        return x + nn.Parameter(self.rows_of_it, requires_grad=False).to(x.device) + self.other


class Anchors(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.ratios = torch.tensor([0.5, 1.0, 2.0])
        self.choices = torch.eye(n)
        self.kept = torch.eye(n)  # trap: tensor-not-buffer

    def sizes(self):
        return [torch.sqrt(self.ratios[i]) for i in range(len(self.ratios))], self.ratios.shape

    def forward(self, x, index):
        chosen = self.choices[index]
        chosen = chosen.to(x.device)
        picked = self.kept[index]
        return x @ chosen + x @ picked, self.sizes()


class Scales(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.lin = nn.ModuleList([nn.Linear(4, 4) for _ in range(n)])
        self.scale, self.kept = [], []
        for i in range(n):
            self.scale.append(torch.ones(4))  # trap: tensor-not-buffer
            self.register_buffer(f"kept{i}", torch.ones(4))
            self.kept.append(getattr(self, f"kept{i}"))

    def forward(self, x):
        for lin, s, k in zip(self.lin, self.scale, self.kept):
            x = lin(x) / s / k
            s.mul_(0.9).add_(0.1 * x.abs().mean(0).detach())
            k.mul_(0.9)
        return x


class Fitted(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.mean = torch.zeros(n)  # trap: tensor-not-buffer
        self.std = torch.ones(n)  # trap: tensor-not-buffer
        self.low = torch.zeros(n)
        self.middle = torch.zeros(n)
        self.seen = torch.zeros(n)

    def fit(self, data, middle):
        self.mean, self.std = data.mean(0), data.std(0).clamp(min=1e-6)
        self.low = torch.amin(data, dim=0)
        self.middle = middle

    def forward(self, x):
        self.seen = x.mean(0)
        return (x - self.mean) / self.std / self.low - self.middle + self.seen


def keep(fitted: Fitted):
    return {"net": fitted.state_dict(), "low": fitted.low}
