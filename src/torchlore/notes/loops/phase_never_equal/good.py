import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(20):
    for phase in ["training", "validation"]:
        net.train(phase == "training")
        x = torch.randn(16, 4)
        with torch.set_grad_enabled(phase == "training"):
            loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
        if phase == "training":
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
result = {"batches_seen": int(net[1].num_batches_tracked)}
