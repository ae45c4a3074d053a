import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.proj = nn.Linear(8, 8)
        self.decoder = nn.Linear(8, 4)

    def forward(self, x):
        return self.decoder(self.proj(self.encoder(x)))


def by_list(x):
    net = Net()
    optimizer = torch.optim.Adam(
        [
            {"params": [p for n, p in net.named_parameters() if "encoder" in n], "lr": 1e-4},
            {"params": [p for n, p in net.named_parameters() if "decoder" in n], "lr": 1e-3},  # trap: parameters-in-no-group
        ]
    )
    loss = (net(x) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def all_of_them(x):
    net = Net()
    optimizer = torch.optim.Adam(
        [
            {"params": [p for n, p in net.named_parameters() if "encoder" in n], "lr": 1e-4},
            {"params": [p for n, p in net.named_parameters() if "encoder" not in n], "lr": 1e-3},
        ]
    )
    loss = (net(x) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def three_tests(x):
    net = Net()
    one, two, three = [], [], []
    for name, p in net.named_parameters():
        if name.startswith("encoder"):
            one.append(p)
        elif name.startswith("proj"):
            two.append(p)
        elif name.startswith("decoder"):
            three.append(p)
    return torch.optim.Adam([{"params": one}, {"params": two}, {"params": three}])


def by_kind(x):
    net = Net()
    one, two = [], []
    for name, p in net.named_parameters():
        if "bias" in name:
            one.append(p)
        elif "weight" in name:
            two.append(p)
    return torch.optim.Adam([{"params": one}, {"params": two}])
