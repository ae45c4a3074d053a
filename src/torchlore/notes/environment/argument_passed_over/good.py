import torch
from torch import nn


class Pair:
    def __init__(self, tau=0.005):
        self.tau = tau
        self.online, self.target = nn.Linear(4, 4), nn.Linear(4, 4)
        self.update(tau=1.0)

    def update(self, tau=None):
        tau = self.tau if tau is None else tau
        for target, online in zip(self.target.parameters(), self.online.parameters(), strict=True):
            target.data.lerp_(online.data, tau)


torch.manual_seed(0)
pair = Pair()
result = {"apart": (pair.online.weight - pair.target.weight).norm().item()}
