import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 16), nn.Dropout(0.5), nn.Linear(16, 1))
x = torch.ones(1, 4)

model.eval()
with torch.no_grad():
    outputs = {round(model(x).item(), 6) for _ in range(10)}

result = {"training": model.training, "outputs": len(outputs)}
