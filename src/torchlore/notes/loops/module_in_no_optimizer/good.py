import torch
from torch import nn


class CenterLoss(nn.Module):
    def __init__(self, classes: int, width: int) -> None:
        super().__init__()
        self.centers = nn.Parameter(torch.randn(classes, width))

    def forward(self, features: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return (features - self.centers[labels]).pow(2).sum(1).mean()


network = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 8))
center = CenterLoss(3, 8)
optimizer = torch.optim.SGD([*network.parameters(), *center.parameters()], lr=0.05)
x, y = torch.randn(96, 10), torch.randint(0, 3, (96,))

seen = []
for _ in range(10):
    features = network(x)
    optimizer.zero_grad()
    loss = center(features, y)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        seen.append(center(torch.zeros(96, 8), y).item())

result = {"moved": abs(seen[-1] - seen[0])}
