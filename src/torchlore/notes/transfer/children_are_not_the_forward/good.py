import torch
from torch import nn
from torchvision import models

backbone = models.densenet121(weights=None)
backbone.classifier = nn.Identity()
backbone.eval()
with torch.no_grad():
    feature = backbone(torch.randn(2, 3, 64, 64))

result = {"shape": list(feature.shape), "lowest": feature.min().item()}
