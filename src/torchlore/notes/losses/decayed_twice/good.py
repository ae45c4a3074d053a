import torch
from torch import nn

model = nn.Linear(4, 1, bias=False)
nn.init.ones_(model.weight)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0, weight_decay=0.1)
x, y = torch.zeros(8, 4), torch.zeros(8, 1)
optimizer.zero_grad()
loss = nn.functional.mse_loss(model(x), y)
loss.backward()
optimizer.step()
result = {"left": model.weight.mean().item()}
