import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
before = [p.data for p in model.parameters()]  # trap: weights-kept-by-reference

for _ in range(3):
    loss = model(torch.ones(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    moved = sum((p - old).abs().sum() for p, old in zip(model.parameters(), before))
result = {"moved": moved.item()}
