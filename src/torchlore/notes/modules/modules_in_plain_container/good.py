import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.hidden = nn.ModuleList()
        for _ in range(depth):
            self.hidden.append(nn.Linear(8, 8))
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return self.head(x)


net = Net()
print(net(torch.ones(1, 8)).shape)

result = {"parameters": len(list(net.parameters()))}
