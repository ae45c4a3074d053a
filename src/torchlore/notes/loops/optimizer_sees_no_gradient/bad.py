import torch
from torch import nn

x, y = torch.randn(64, 8), torch.randint(3, (64,))
encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
head = nn.Linear(16, 3)
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)  # trap: optimizer-sees-no-gradient
losses = []

for _ in range(20):
    with torch.no_grad():
        features = encoder(x)
    loss = nn.functional.cross_entropy(head(features), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())

result = {"first": losses[0], "last": losses[-1]}
