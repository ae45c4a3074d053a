import torch
from torch import nn

x = torch.randn(20, 64, 4)
y = x.sum(dim=2, keepdim=True)
known = torch.rand(20, 64, 1) < 0.5
known[7] = False  # one batch in which nothing is labelled
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for inputs, targets, mask in zip(x, y, known):
    error = (model(inputs) - targets).pow(2) * mask
    loss = error.sum() / mask.sum()
    optimizer.zero_grad()
    loss.backward()  # trap: loss-is-nan
    optimizer.step()

result = {"broken_weights": int((~model.weight.isfinite()).sum())}
