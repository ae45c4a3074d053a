import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=512.0)
loss = model(torch.ones(4, 2)).pow(2).mean()
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
result = {"loss": loss.item()}
