import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
inputs = torch.randn(32, 8)

model.eval()
torch.no_grad()  # trap: grad-context-as-statement
scores = model(inputs)

result = {"has_graph": scores.requires_grad}
