import torch
from torch import nn


class Dueling(nn.Module):
    def __init__(self, states, actions):
        super().__init__()
        self.advantage = nn.Linear(states, actions)
        self.value = nn.Linear(states, 1)

    def forward(self, state):
        advantage = self.advantage(state)
        value = self.value(state)
        return value + advantage - advantage.mean(dim=1, keepdim=True)


torch.manual_seed(0)
net = Dueling(4, 3)
states = torch.randn(16, 4)
with torch.no_grad():
    alone, together = net(states[:1]), net(states)[:1]
result = {"apart": float((alone - together).abs().max())}
