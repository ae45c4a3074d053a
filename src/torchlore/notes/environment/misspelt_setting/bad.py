import torch
from torch import nn

torch.backends.cudnn.benchmarks = True  # trap: misspelt-setting

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for group in optimizer.param_groups:
    group["learning_rate"] = 0.001  # trap: misspelt-setting

before = model.weight.detach().clone()
model(torch.ones(1, 4)).sum().backward()
optimizer.step()

moved = (model.weight - before).abs().max().item()
result = {"moved": moved, "searches": torch.backends.cudnn.benchmark}
