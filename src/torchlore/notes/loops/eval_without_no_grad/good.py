import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randn(96, 1)
model = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.1), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
graphs, total, outputs = 0, 0.0, []

for _ in range(2):
    model.train()
    for rows in torch.arange(48).split(16):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x[rows]), y[rows]).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for rows in torch.arange(48, 96).split(16):
            output = model(x[rows])
            outputs.append(output)
            graphs += output.requires_grad
            total += nn.functional.mse_loss(output, y[rows]).item()

result = {"graphs": graphs, "loss": total}
