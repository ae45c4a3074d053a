import torch
from torch import nn

torch.manual_seed(0)
heads = nn.ModuleList(nn.Linear(4, 3) for _ in range(3))
optimizer = torch.optim.SGD(heads.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
before = [head.weight.detach().clone() for head in heads]
x, targets = torch.randn(16, 4), torch.randint(0, 3, (3, 16))

for _ in range(5):
    outputs, loss = [head(x) for head in heads], 0
    for out, target in zip(outputs, targets, strict=True):
        loss = loss + criterion(out, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"heads_that_moved": sum(not torch.equal(head.weight, old) for head, old in zip(heads, before, strict=True))}
