"""Other spellings of double-precision-by-accident, and code that only looks like it."""
import numpy as np
import torch
from torch import nn

x = torch.from_numpy(np.random.rand(8, 4))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return self.fc(x)


net = Net()
net.double()  # trap: double-precision-by-accident
net = nn.Sequential(nn.Linear(4, 1)).to(torch.float64)  # trap: double-precision-by-accident
out = Net().to("cpu", torch.double)(x)  # trap: double-precision-by-accident

# clean
total = x.double().sum()
y = torch.from_numpy(np.random.rand(8, 4)).float()
half = Net().to(torch.float16)
scores = y.to(torch.float64)
