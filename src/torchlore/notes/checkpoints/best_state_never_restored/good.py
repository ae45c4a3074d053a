import copy

import torch
from torch import nn


def fit(net, x, y, steps):
    best, best_state = float("inf"), None
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(steps):
        optimizer.zero_grad()
        loss = (net(x) - (y if step < steps // 2 else y + 3)).pow(2).mean()
        loss.backward()
        optimizer.step()
        error = (net(x) - y).pow(2).mean().item()
        if error < best:
            best = error
            best_state = copy.deepcopy(net.state_dict())
    net.load_state_dict(best_state)
    return best


torch.manual_seed(0)
x = torch.randn(64, 2)
net = nn.Linear(2, 1)
best = fit(net, x, x.sum(1, keepdim=True), 40)
result = {"apart": (net(x) - x.sum(1, keepdim=True)).pow(2).mean().item() - best}
