import torch
from torch import nn
from torch.nn import functional as F


class Squeezed(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        return torch.sigmoid(self.head(F.relu(self.body(x))))  # trap: relu-before-cross-entropy


class Free(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.head(F.relu(self.body(x)))


class Leaky(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        return F.leaky_relu(self.head(x))


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        return 10 * torch.tanh(self.head(x))


x, y = torch.randn(6, 4), torch.randint(0, 3, (6,))
criterion = nn.CrossEntropyLoss()
criterion(Squeezed()(x), y)
criterion(Free()(x), y)
F.cross_entropy(Leaky()(x), y)
F.cross_entropy(Scaled()(x), y)
