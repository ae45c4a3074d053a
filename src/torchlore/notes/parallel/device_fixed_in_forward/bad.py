import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        noise = torch.zeros(x.shape[0], 4, device="cuda:0")  # trap: device-fixed-in-forward
        return self.fc(x) + noise


net = Net().to("meta")  # "meta" stands for a second GPU
error, device = "", ""
try:
    device = net(torch.zeros(2, 4, device="meta")).device.type
except (RuntimeError, AssertionError, NotImplementedError) as caught:
    error = type(caught).__name__

result = {"error": error, "device": device}
