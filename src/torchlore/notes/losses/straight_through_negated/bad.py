import torch
from torch import nn

torch.manual_seed(0)
costs = torch.tensor([4.0, 2.0, 1.0])
scores = nn.Parameter(torch.zeros(3))
optimizer = torch.optim.SGD([scores], lr=0.5)
for _ in range(100):
    soft = scores.softmax(0)
    hard = torch.zeros(3).scatter_(0, soft.argmax(0, keepdim=True), 1.0)
    choice = hard - soft + soft.detach()  # trap: straight-through-negated
    optimizer.zero_grad()
    (choice * costs).sum().backward()
    optimizer.step()

result = {"cost": costs[scores.argmax()].item()}
