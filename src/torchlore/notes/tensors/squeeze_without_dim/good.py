import torch
from torch import nn

features = nn.Sequential(nn.Conv2d(1, 8, 3), nn.AdaptiveAvgPool2d(1)).eval()
head = nn.Linear(8, 3)

shapes = []
with torch.no_grad():
    for batch in torch.randn(9, 1, 8, 8).split(4):
        pooled = features(batch).squeeze((-2, -1))
        shapes.append(tuple(head(pooled).shape))

result = {"shapes": shapes}
