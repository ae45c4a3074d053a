import torch
from torch import nn

torch.manual_seed(0)
PAD = 0
targets = torch.tensor([[3, 5, 2, 4], [4, PAD, PAD, PAD]])
scores = torch.randn(2, 4, 6)
scores[1, 1:, PAD] += 20  # padding after padding is easy
criterion = nn.CrossEntropyLoss(ignore_index=PAD)

result = {"loss": criterion(scores.reshape(-1, 6), targets.reshape(-1)).item()}
