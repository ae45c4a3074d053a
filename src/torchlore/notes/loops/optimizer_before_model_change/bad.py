import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1000))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # trap: optimizer-before-model-change
model[2] = nn.Linear(8, 3)
before = model[2].weight.detach().clone()

for _ in range(5):
    loss = nn.functional.cross_entropy(model(torch.randn(16, 4)), torch.randint(3, (16,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"moved": (model[2].weight - before).abs().max().item()}
