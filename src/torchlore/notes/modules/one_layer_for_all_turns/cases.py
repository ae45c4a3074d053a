import torch
from torch import nn


class Deep(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.n = n
        self.layers = nn.ModuleList([nn.Linear(d, d) for _ in range(n)])
        self.norms = nn.ModuleList([nn.LayerNorm(d) for _ in range(n)])
        self.mix = nn.ModuleList([nn.Linear(d, d) for _ in range(n)])
        self.ends = nn.ModuleList([nn.Linear(d, d), nn.Linear(d, d)])

    def forward(self, x):
        for i in range(self.n):
            x = x + torch.relu(self.layers[0](self.norms[i](x)))  # trap: one-layer-for-all-turns
        for i in range(len(self.mix)):
            y = self.mix[i](x)  # trap: one-layer-for-all-turns
            z = torch.relu(y)
        return z + self.ends[0](x) + self.ends[1](x)


class Fine(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(d, d) for _ in range(n)])
        self.heads = nn.ModuleList([nn.Linear(d, 2) for _ in range(n)])
        self.steps = nn.ModuleList([nn.GRUCell(d, d) for _ in range(n)])
        self.one = nn.ModuleList([nn.Linear(d, d)])

    def forward(self, x, seen):
        total = x
        for layer in self.layers:
            y = torch.relu(layer(x))
            total = total + y
        scores = []
        for head in self.heads:
            score = head(total)
            scores.append(score)
        best = None
        for head in self.heads:
            score = head(x)
            best = score if best is None else torch.maximum(best, score)
        for _ in range(3):
            x = self.one[0](x)
        for layer, given in zip(self.layers, seen):
            out = layer(given)
        for layer in self.layers:
            z = layer(x)
            x = z
        return scores, best, out, x
