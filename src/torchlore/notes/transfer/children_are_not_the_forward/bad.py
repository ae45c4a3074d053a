import torch
from torch import nn
from torchvision import models

backbone = models.densenet121(weights=None)
backbone = nn.Sequential(*list(backbone.children())[:-1])  # trap: children-are-not-the-forward
backbone.eval()
with torch.no_grad():
    feature = backbone(torch.randn(2, 3, 64, 64))

result = {"shape": list(feature.shape), "lowest": feature.min().item()}
