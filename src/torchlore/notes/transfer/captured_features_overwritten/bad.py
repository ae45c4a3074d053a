import torch
from torch import nn

net = nn.Sequential(
    nn.Conv2d(3, 8, 3, bias=False),
    nn.BatchNorm2d(8),
    nn.ReLU(inplace=True),
    nn.AdaptiveAvgPool2d(1),
)
features = {}


def keep(module, args, output):
    features["bn"] = output.detach()  # trap: captured-features-overwritten


net[1].register_forward_hook(keep)
net.eval()
images = torch.randn(4, 3, 16, 16)
with torch.no_grad():
    net(images)
    expected = net[1](net[0](images))[:1].clone()
    net(images)

got = features["bn"][:1]
result = {"lowest": got.min().item(), "error": (got - expected).abs().max().item()}
