import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 6)
y = (x[:, :1] > 0).float()
net = nn.Sequential(
    nn.Linear(6, 16),
    nn.ReLU(),
    nn.Linear(16, 1),
    nn.Sigmoid(),  # trap: sigmoid-before-bce-with-logits
)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
for _ in range(200):
    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    optimizer.step()

result = {"loss": loss.item()}
