import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __init__(self):
        self.samples = (torch.randn(4) for _ in range(40))  # trap: loader-runs-dry

    def __iter__(self):
        return self.samples


loader = DataLoader(Stream(), batch_size=8)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
steps = 0
for _ in range(3):
    for x in loader:
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        steps += 1

result = {"steps": steps}
