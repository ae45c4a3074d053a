import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Counts(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        row = (torch.arange(9) + i) % 8
        return row[:-1], row[1:]


torch.manual_seed(0)
net = nn.Sequential(nn.Embedding(8, 16), nn.Linear(16, 8))
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
for _ in range(10):
    for x, y in DataLoader(Counts(), batch_size=16, shuffle=True):
        logits = net(x)
        loss = nn.functional.cross_entropy(logits[:, :-1].reshape(-1, 8), y[:, 1:].reshape(-1))  # trap: labels-shifted-twice
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
guess = net(torch.arange(8)).argmax(1)
result = {"next": ((guess - torch.arange(8)) % 8 == 1).float().mean().item()}
