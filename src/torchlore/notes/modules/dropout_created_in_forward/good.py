import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 64)
        self.fc2 = nn.Linear(64, 2)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.nn.functional.dropout(x, 0.5, training=self.training)
        return self.fc2(x)


model = Net()
model.eval()
x = torch.randn(32, 8)
with torch.no_grad():
    first, second = model(x), model(x)

result = {"difference": (first - second).abs().max().item()}
