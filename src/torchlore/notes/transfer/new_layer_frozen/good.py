import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.norm = nn.LayerNorm(32)
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        return self.head(self.norm(self.body(x)))


def train(net, x, y, steps):
    optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=0.01)
    for _ in range(steps):
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


x = torch.randn(200, 12)
net = Net()
train(net, x, (x[:, 0] > 0).long(), 60)
net.head = nn.Linear(32, 5)
for name, p in net.named_parameters():
    if not name.startswith(("norm", "head")):
        p.requires_grad = False
drawn = net.head.weight.detach().clone()
loss = train(net, x, (x[:, 1] * 2).clamp(-2, 2).long() + 2, 80)

result = {"moved": (net.head.weight - drawn).abs().max().item(), "loss": loss}
