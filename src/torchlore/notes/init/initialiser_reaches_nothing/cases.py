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


models = [Forgotten(), Called().apply(init), torch.zeros(1)]
