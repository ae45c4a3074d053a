import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
captured = []
model.register_forward_hook(lambda module, inputs, output: captured.append(output.detach()))

for _ in range(3):
    scores = model.forward(torch.randn(5, 4))  # trap: forward-called-directly

result = {"captured": len(captured)}
