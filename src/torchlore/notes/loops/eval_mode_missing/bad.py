import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randint(2, (64,))
model = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def score():
    with torch.no_grad():  # trap: eval-mode-missing
        return nn.functional.cross_entropy(model(x), y).item()


for epoch in range(2):
    model.train()
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    print("epoch", epoch, "loss", score())

result = {"gap": abs(score() - score())}
