import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.bridge, self.fc = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.fc(torch.relu(self.bridge(torch.relu(self.body(x)))))


torch.manual_seed(0)
net = Tagger()
slow, fast = [], []
for name, p in net.named_parameters():
    if name.startswith("body"):
        slow.append(p)
    elif name.startswith("fc"):  # trap: parameters-in-no-group
        fast.append(p)
optimizer = torch.optim.SGD([{"params": slow, "lr": 0.01}, {"params": fast, "lr": 0.1}])
before = net.bridge.weight.clone()
for _ in range(20):
    x = torch.randn(16, 4)
    loss = nn.functional.cross_entropy(net(x), (x.sum(1) > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
result = {"moved": (net.bridge.weight - before).abs().max().item()}
