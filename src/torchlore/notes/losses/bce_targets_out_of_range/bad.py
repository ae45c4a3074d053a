import torch
from torch import nn

x = torch.randn(64, 4)
label = torch.where(x[:, :1] > 0, 1.0, -1.0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
for _ in range(30):
    loss = nn.functional.binary_cross_entropy_with_logits(model(x), label)  # trap: bce-targets-out-of-range
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"loss": loss.item()}
