import torch
from torch import nn
from torch.nn import Conv2d


class Bad(nn.Module):
    def forward(self, x, y):
        x = nn.Linear(4, 4)(x)  # trap: layer-created-in-forward
        conv = Conv2d(x.shape[1], 8, 3).to(x.device)  # trap: layer-created-in-forward
        embed = nn.Embedding(10, 4)  # trap: layer-created-in-forward
        norm = nn.Sequential(nn.BatchNorm1d(4), nn.ReLU())  # trap: layer-created-in-forward
        return conv(x) + embed(y) + norm(x)


class Fine(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.head = None

    def build(self, n):
        return nn.Linear(n, 2)

    def forward(self, x):
        if self.head is None:
            self.head = nn.Linear(x.shape[1], 2)
        x = nn.ReLU()(self.fc(x))
        pool = nn.MaxPool2d(2)
        loss = nn.CrossEntropyLoss()
        scale = nn.functional.linear(x, self.fc.weight)
        return self.head(pool(x)), loss, scale


class Maker:
    def forward(self, x):
        model = nn.Linear(4, 4)
        return model(x)


class Grows(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.expand = nn.Embedding(4, 2), True

    def forward(self, x):
        if self.expand:
            wider = nn.Embedding(6, 2)
            wider.weight.data[:4] = self.table.weight.data
            self.table, self.expand = wider, False
        return self.table(x)


class Cosine(nn.Module):
    def __init__(self, dim, classes):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(classes, dim))
        self.cache = None

    def forward(self, x):
        self.weight = nn.Parameter(nn.functional.normalize(self.weight, dim=1))  # trap: layer-created-in-forward
        if self.cache is None:
            self.cache = nn.Parameter(torch.zeros(x.shape[-1]))
        return (x + self.cache) @ self.weight.T


class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = None
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        if self.proj is None:
            self.proj = nn.Linear(x.shape[1], 8)  # trap: layer-created-in-forward
        return self.head(self.proj(x).relu())


def fit(batches):
    net = Lazy()
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in batches:
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class ScaledEachTime(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        scale = nn.Parameter(torch.ones(x.size(-1)))  # trap: layer-created-in-forward
        fixed = nn.Parameter(torch.ones(4), requires_grad=False)
        return self.lin(x) * scale * fixed


class Normalises(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)

    def forward(self, x):
        x = nn.BatchNorm1d(4, track_running_stats=False)(self.body(x))
        return nn.LayerNorm(4)(x)  # trap: layer-created-in-forward


class Resized(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3)

    def forward(self, x):
        up = nn.Upsample(size=x.shape[2:])
        down, same = nn.MaxUnpool2d(2), nn.LocalResponseNorm(2)
        plain = nn.InstanceNorm2d(3)(nn.LayerNorm(x.shape[1:], elementwise_affine=False)(x))
        weighed = nn.LayerNorm(x.shape[1:])(plain)  # trap: layer-created-in-forward
        return up(self.conv(same(weighed))), down


class NormalisesRows(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)

    def forward(self, x):
        norm = nn.LayerNorm(x.shape[1:], elementwise_affine=False)
        return norm(self.body(x))


class Shortcut(nn.Module):
    def __init__(self):
        super().__init__()
        self.main, self.last = nn.Conv2d(3, 8, 1), nn.Conv2d(8, 8, 1)

    def _skip(self):
        return nn.Conv2d(3, 8, 1)

    def _both(self):
        return nn.Sequential(self.main, self.last)

    def forward(self, x):
        skip = self._skip()(x)  # trap: layer-created-in-forward
        new = Normalises()  # trap: layer-created-in-forward
        return self._both()(x) + skip + new(x)
