import torch
from torch import nn


class Bad(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.register_buffer("mean", torch.zeros(n))
        self.register_buffer("bank", torch.zeros(n))
        self.register_buffer("centre", torch.zeros(n))

    def forward(self, x):
        h = self.fc(x)
        self.mean.mul_(0.9).add_(0.1 * h.mean(0))  # trap: buffer-updated-with-graph
        self.bank = 0.9 * self.bank + 0.1 * h.sum(0)  # trap: buffer-updated-with-graph
        now = x.mean(0)
        self.centre += 0.1 * (now - self.centre)  # trap: buffer-updated-with-graph
        return h - self.mean


class Fine(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.register_buffer("mean", torch.zeros(n))
        self.register_buffer("steps", torch.zeros(1))
        self.last = None

    def forward(self, x):
        h = self.fc(x)
        self.steps += 1
        self.mean.lerp_(h.detach().mean(0), 0.1)
        with torch.no_grad():
            self.mean.add_(h.mean(0))
            self.mean = self.mean * 0.9 + h.mean(0) * 0.1
        self.last = h
        return h

    @torch.no_grad()
    def update(self, x):
        self.mean += self.fc(x).mean(0)


class Prototypes(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(4, 8)
        self.register_buffer("means", torch.zeros(3, 8))
        self.register_buffer("calm", torch.zeros(3, 8))

    def update(self, x, y):
        z = self.embed(x)
        for c in range(3):
            self.means[c] = 0.9 * self.means[c] + 0.1 * z[y == c].mean(0)  # trap: buffer-updated-with-graph
            self.calm[c] = 0.9 * self.calm[c] + 0.1 * z[y == c].detach().mean(0)


class Shadow:
    def __init__(self, model):
        self.kept = {name: p.detach().clone() for name, p in model.named_parameters()}

    def update(self, model, decay):
        for name, p in model.named_parameters():
            self.kept[name] = decay * self.kept[name] + (1 - decay) * p  # trap: buffer-updated-with-graph
            self.kept[name] -= (1 - decay) * (self.kept[name] - p)  # trap: buffer-updated-with-graph

    def update_well(self, model, decay):
        for name, p in model.named_parameters():
            self.kept[name] = decay * self.kept[name] + (1 - decay) * p.data
            self.kept[name] = decay * self.kept[name] + (1 - decay) * p.detach()
            with torch.no_grad():
                self.kept[name] = decay * self.kept[name] + (1 - decay) * p

    @torch.no_grad()
    def update_too(self, model, decay):
        for name, p in model.named_parameters():
            self.kept[name] = decay * self.kept[name] + (1 - decay) * p

    def penalty(self, model):
        terms = {}
        for name, p in model.named_parameters():
            terms[name] = (p - self.kept[name]).pow(2).sum()
        return sum(terms.values())

    def step(self, model, decay):
        for name, p in model.named_parameters():
            self.kept[name] = decay * self.kept[name] + (1 - decay) * p


def guarded(model):
    shadow = Shadow(model)
    with torch.no_grad():
        shadow.step(model, 0.9)


class Queue(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 8)
        self.keys, self.calm = None, None
        self.queue = torch.randn(16, 8)
        self.right = torch.randn(16, 8)

    def forward(self, x):
        keys = self.net(x)
        self.queue = torch.cat([self.queue, keys])[-64:]  # trap: buffer-updated-with-graph
        self.right = torch.cat([self.right, keys.detach()])[-64:]
        return keys @ self.queue.detach().t()


class SetOnce(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 8)
        self.register_buffer("scale", torch.tensor([-1.0]))

    def forward(self, x):
        out = self.net(x)
        known = self.scale[0].item()
        if known < 0:
            self.scale[0] = out.mean()  # trap: buffer-updated-with-graph
        return out / self.scale.detach()


class Generates(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 8)
        self.register_buffer("key_cache", None)
        self.register_buffer("seen", None)

    def reset(self):
        self.seen = None

    def forward(self, x):
        new = self.net(x)
        self.key_cache = new if self.key_cache is None else torch.cat([self.key_cache, new], dim=1)
        self.seen = new if self.seen is None else torch.cat([self.seen, new], dim=1)
        return self.key_cache + self.seen


class Prototypes(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 8)
        self.register_buffer("centers", torch.zeros(3, 8))
        self.register_buffer("grown", torch.zeros(3, 8))

    def forward(self, x, labels):
        out = self.net(x)
        old = self.centers.detach()
        self.centers = old + 0.1 * (labels.t() @ out)
        before = self.grown.detach()
        self.grown = self.grown + 0.1 * (labels.t() @ out)  # trap: buffer-updated-with-graph
        return out @ self.centers.t(), before
