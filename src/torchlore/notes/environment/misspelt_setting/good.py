import torch
from torch import nn

torch.backends.cudnn.benchmark = True

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for group in optimizer.param_groups:
    group["lr"] = 0.001

before = model.weight.detach().clone()
model(torch.ones(1, 4)).sum().backward()
optimizer.step()

moved = (model.weight - before).abs().max().item()
result = {"moved": moved, "searches": torch.backends.cudnn.benchmark}
