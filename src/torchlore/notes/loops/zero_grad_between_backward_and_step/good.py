import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 5)
y = x.sum(1, keepdim=True)
model = nn.Linear(5, 1)
start = model.weight.detach().clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for i in range(20):
    pick = slice(i * 12, i * 12 + 12)
    loss = nn.functional.mse_loss(model(x[pick]), y[pick])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with torch.no_grad():
    final = nn.functional.mse_loss(model(x), y).item()
result = {"loss": final, "moved": (model.weight - start).norm().item()}
