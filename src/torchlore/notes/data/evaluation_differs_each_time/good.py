import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset


class Pictures(Dataset):
    def __init__(self, x, y, noise):
        self.x, self.y, self.noise = x, y, noise

    def __len__(self):
        return 96

    def __getitem__(self, index):
        return self.x[index] + self.noise * torch.randn(1, 6, 6), self.y[index]


data = torch.rand(96, 1, 6, 6), torch.randint(0, 2, (96,))
order = torch.randperm(96).tolist()
train_loader = DataLoader(Subset(Pictures(*data, noise=0.1), order[:64]), batch_size=16, shuffle=True)
val_loader = DataLoader(Subset(Pictures(*data, noise=0.0), order[64:]), batch_size=16)
model = nn.Sequential(nn.Flatten(), nn.Linear(36, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
seen = set()
for _ in range(3):
    for x, y in train_loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    with torch.no_grad():
        seen.add(sum(x.double().sum().item() for x, y in val_loader if len(model(x))))

result = {"versions": len(seen)}
