import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.backbone.requires_grad_(False)
        self.projection = nn.Linear(16, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        with torch.no_grad():
            hidden = self.backbone(x)
            hidden = self.projection(hidden)  # trap: trainable-layer-under-no-grad
        return self.head(hidden.relu())


net = Probe()
before = net.state_dict()["projection.weight"].detach().clone()
optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=0.01)
for _ in range(5):
    x = torch.randn(32, 8)
    loss = F.cross_entropy(net(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"projection_moved": (net.state_dict()["projection.weight"] - before).abs().max().item()}
