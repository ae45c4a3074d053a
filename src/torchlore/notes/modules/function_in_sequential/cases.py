import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Linear, ReLU, Sequential

a = nn.Sequential(Linear(2, 2), nn.ReLU, Linear(2, 2))  # trap: function-in-sequential
b = Sequential(Linear(2, 2), torch.tanh)  # trap: function-in-sequential
c = nn.ModuleList([Linear(2, 2), F.gelu])  # trap: function-in-sequential
d = nn.Sequential(
    Linear(2, 2),
    F.max_pool2d,  # trap: function-in-sequential
)


class Net(nn.Module):
    def __init__(self, activation=F.relu, layer=nn.ReLU):
        super().__init__()
        self.activation = activation
        self.body = nn.Sequential(Linear(2, 2), ReLU(), layer())
        self.rest = nn.Sequential(*[Linear(2, 2) for _ in range(3)])

    def forward(self, x):
        return self.activation(self.rest(self.body(x)))
