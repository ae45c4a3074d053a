import torch
from torch import nn


def member():
    torch.manual_seed(0)  # trap: twins-stay-equal
    return nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))


members = nn.ModuleList(member() for _ in range(3))
optimizer = torch.optim.Adam(members.parameters(), lr=0.01)
x, y = torch.randn(64, 4), torch.randn(64, 1)
for _ in range(10):
    loss = sum(nn.functional.mse_loss(one(x), y) for one in members)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with torch.no_grad():
    answers = torch.stack([one(x) for one in members])
result = {"spread": answers.std(0).max().item()}
