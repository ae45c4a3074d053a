import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Pictures(Dataset):
    def __init__(self):
        self.x, self.y = torch.rand(96, 1, 6, 6), torch.randint(0, 2, (96,))

    def __len__(self):
        return 96

    def __getitem__(self, index):
        picture = self.x[index] + 0.1 * torch.randn(1, 6, 6)
        return picture, self.y[index]


train_set, val_set = random_split(Pictures(), [64, 32])
train_loader = DataLoader(train_set, batch_size=16, shuffle=True)
val_loader = DataLoader(val_set, batch_size=16)  # trap: evaluation-differs-each-time
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
