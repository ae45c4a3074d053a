import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)

    def forward(self, x):
        x = self.conv(x).relu().flatten(1)
        head = nn.Linear(x.shape[1], 3)  # trap: layer-created-in-forward
        return head(x)


model = Net()
images = torch.randn(2, 1, 8, 8)
model(images)
model.eval()
with torch.no_grad():
    difference = (model(images) - model(images)).abs().max().item()

result = {"difference": difference, "parameters": len(list(model.parameters()))}
