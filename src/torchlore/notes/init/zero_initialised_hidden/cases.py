import torch
import torch.nn as nn


def weights(m):
    if isinstance(m, (nn.Linear, nn.Conv2d)):
        m.weight.data.zero_()  # trap: zero-initialised-hidden
        m.bias.data.zero_()
    elif isinstance(m, nn.BatchNorm2d):
        nn.init.zeros_(m.weight)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.out = nn.Linear(2, 2), nn.Linear(2, 2)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.constant_(m.weight, 0.01)  # trap: zero-initialised-hidden
        self.apply(self.reset)
        nn.init.zeros_(self.out.weight)  # the last layer of a branch

    def reset(self, module):
        if isinstance(module, nn.Conv2d):
            nn.init.ones_(module.weight)  # trap: zero-initialised-hidden


def fine(m):
    if isinstance(m, nn.Linear):
        nn.init.kaiming_normal_(m.weight)
        nn.init.zeros_(m.bias)
        if getattr(m, "last", False):
            nn.init.zeros_(m.weight)
    if isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
        nn.init.ones_(m.weight)


model = Net()
model.apply(weights)
model.apply(fine)


def never_applied(m):
    if isinstance(m, nn.Linear):
        nn.init.zeros_(m.weight)


class Drawn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                m.weight.data.zero_()
                m.weight.data.normal_(0.0, 0.1)


def by_name(net):
    for name, param in net.named_parameters():
        if "weight" in name:
            nn.init.constant_(param, 0.1)  # trap: zero-initialised-hidden
        else:
            nn.init.zeros_(param)


def by_name_fine(net):
    for name, param in net.named_parameters():
        if "bias" in name:
            nn.init.zeros_(param)
        elif "norm" in name:
            nn.init.ones_(param)
        else:
            nn.init.normal_(param, std=0.02)
    for param in net.parameters():
        param.data.zero_()


class Stack(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:], strict=True))
        self.heads = nn.ModuleList(nn.Linear(sizes[-1], 2) for _ in range(3))
        for layer in self.layers:
            nn.init.constant_(layer.weight, 0.1)  # trap: zero-initialised-hidden
            nn.init.zeros_(layer.bias)
        for head in self.heads:
            nn.init.zeros_(head.weight)

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        x = self.layers[-1](x)
        return [head(x) for head in self.heads]


def by_type(m):
    if type(m) == nn.Linear:
        nn.init.constant_(m.weight, 0.05)  # trap: zero-initialised-hidden
    if type(m) in (nn.Conv2d, nn.Conv1d):
        m.weight.data.fill_(0.01)  # trap: zero-initialised-hidden
    if type(m) is nn.BatchNorm2d:
        nn.init.constant_(m.weight, 1)


def apply_by_type(net):
    net.apply(by_type)


class Adapter(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base = base
        self.A = nn.Parameter(torch.zeros(rank, base.in_features))  # trap: zero-initialised-hidden
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + 0.5 * (x @ self.A.T @ self.B.T)


class ByLayers(nn.Module):
    def __init__(self, n, rank):
        super().__init__()
        self.down, self.up = nn.Linear(n, rank, bias=False), nn.Linear(rank, n, bias=False)
        nn.init.zeros_(self.down.weight)  # trap: zero-initialised-hidden
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return x + self.up(self.down(x))


class AdapterWell(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base = base
        self.A = nn.Parameter(torch.zeros(rank, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        self.shift = nn.Parameter(torch.zeros(base.out_features))
        nn.init.kaiming_uniform_(self.A)

    def forward(self, x):
        return self.base(x) + x @ self.A.T @ self.B.T + self.shift
