import torch
from torch import nn


class Forgotten(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def init_weights(self):  # trap: initialiser-reaches-nothing
        nn.init.xavier_uniform_(self.fc.weight)

    def forward(self, x):
        return self.fc(x)


class Called(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.initialize_weights()

    def initialize_weights(self):
        nn.init.xavier_uniform_(self.fc.weight)

    def forward(self, x):
        return self.fc(x)


def init(m):
    if isinstance(m, nn.Linear):
        nn.init.zeros_(m.bias)
    elif isinstance(m, nn.Conv2d):
        nn.init.zeros_(m.bias)


def never(m):
    if m == nn.Linear:  # trap: initialiser-reaches-nothing
        nn.init.zeros_(m.bias)


def chosen(norm):
    return norm(4) if norm == nn.BatchNorm1d else norm()


def by_type(m):
    if type(m) == nn.Linear:
        nn.init.zeros_(m.bias)


def in_a_loop(net):
    for layer in net.modules():
        if layer is nn.Conv2d:  # trap: initialiser-reaches-nothing
            nn.init.zeros_(layer.bias)
    for kind in (nn.ReLU, nn.GELU):
        if kind == nn.ReLU:
            print(kind)


Called().apply(never).apply(by_type)
chosen(nn.BatchNorm1d)
models = [Forgotten(), Called().apply(init), torch.zeros(1)]


class ByType(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.apply(self._fill)

    def _fill(self, layer):
        if type(layer) in (nn.Conv1d, nn.Conv3d):  # trap: initialiser-reaches-nothing
            nn.init.kaiming_normal_(layer.weight)

    def forward(self, x):
        return self.fc(x)


class ByTypeToo(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.apply(self._fill)

    def _fill(self, layer):
        if type(layer) is nn.Linear:
            nn.init.kaiming_normal_(layer.weight)

    def forward(self, x):
        return self.fc(x)


print(ByType(), ByTypeToo())


def fill(net):
    for m in net.modules():
        if isinstance(m, nn.Linear):
            nn.init.xavier_uniform_(m.weight.clone())  # trap: initialiser-reaches-nothing
            w = m.weight.detach().clone()
            nn.init.orthogonal_(w)  # trap: initialiser-reaches-nothing
            fresh = m.weight.detach().clone()
            nn.init.orthogonal_(fresh)
            m.weight.data.copy_(fresh)
            nn.init.zeros_(m.bias.data)


fill(ByTypeToo())


class Mirror(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.down = nn.ParameterList([nn.Parameter(torch.empty(n, 4)) for n in sizes])
        self.up = nn.ParameterList([nn.Parameter(torch.empty(n, 4)) for n in sizes])
        for w in self.down:
            nn.init.xavier_uniform_(w)
        for index, v in enumerate(self.up):
            nn.init.xavier_uniform_(w)  # trap: initialiser-reaches-nothing

    def right(self):
        for w in self.down:
            nn.init.xavier_uniform_(w)
            for _ in range(2):
                nn.init.zeros_(w)
        for w in self.up:
            nn.init.xavier_uniform_(w)
