import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, d, layers):
        super().__init__()
        self.cells = nn.ModuleList([nn.LSTMCell(d, d) for _ in range(layers)])
        self.deep = nn.ModuleList([nn.GRUCell(d, d) for _ in range(layers)])

    def forward(self, x):
        h = c = torch.zeros(len(x), x.size(2))
        for t in range(x.size(1)):
            inp = x[:, t]
            for cell in self.cells:
                h, c = cell(inp, (h, c))  # trap: one-state-for-all-cells
                inp = h
        return h

    def by_number(self, x, h):
        for t in range(x.size(1)):
            for k in range(len(self.deep)):
                h = self.deep[k](x[:, t], h)  # trap: one-state-for-all-cells
        return h

    def one_step(self, x, h):
        for cell in self.deep:
            h = cell(x, h)
        return h

    def in_turn(self, x, hs):
        for t in range(x.size(1)):
            for k, cell in enumerate(self.deep):
                hs[k] = cell(x[:, t], hs[k])
        return hs
