import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(64, 8, device=device), torch.randn(64, 1, device=device)
total = 0.0
for a, b in zip(x.split(8), y.split(8)):
    loss = nn.functional.mse_loss(model(a), b)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()  # trap: sync-in-hot-loop

result = {"mean": total / 8}
