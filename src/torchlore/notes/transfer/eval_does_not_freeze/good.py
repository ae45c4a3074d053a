import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self, backbone, freeze_backbone=True):
        super().__init__()
        self.backbone = backbone
        self.freeze_backbone = freeze_backbone
        if freeze_backbone:
            backbone.requires_grad_(False)
        self.head = nn.Linear(16, 3)

    def train(self, mode=True):
        super().train(mode)
        if self.freeze_backbone:
            self.backbone.eval()
        return self

    def forward(self, x):
        return self.head(self.backbone(x))


backbone = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1))
before = backbone[0].weight.detach().clone()
net = Net(backbone)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(64, 8)
y = (x[:, :3]).argmax(1)
net.train()
for _ in range(50):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()

result = {"moved": (backbone[0].weight - before).abs().max().item()}
