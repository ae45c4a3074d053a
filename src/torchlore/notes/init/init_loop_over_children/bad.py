import torch
from torch import nn


def block(width):
    return nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)
        self.body = nn.Sequential(block(8), block(8))
        for layer in self.children():  # trap: init-loop-over-children
            if isinstance(layer, nn.Conv2d):
                nn.init.constant_(layer.bias, 0.1)

    def forward(self, x):
        return self.body(self.stem(x)).mean((2, 3))


model = Net()
model(torch.randn(2, 3, 8, 8))
convs = [m for m in model.modules() if isinstance(m, nn.Conv2d)]
result = {"initialised": sum(bool((m.bias == 0.1).all()) for m in convs)}
