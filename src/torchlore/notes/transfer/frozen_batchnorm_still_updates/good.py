import torch
from torch import nn

backbone = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
model = nn.Sequential(backbone, nn.Linear(8, 2))
for p in backbone.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(model[1].parameters(), lr=0.1)
before = backbone[1].running_mean.clone()
x, y = torch.randn(16, 3, 8, 8) + 5, torch.randint(0, 2, (16,))

backbone.eval()
for _ in range(5):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()

result = {"drift": (backbone[1].running_mean - before).abs().max().item()}
