import torch

scores = torch.ones(2, 3, 4).transpose(1, 2)
scores.reshape(-1)[torch.tensor([0, 5, 11])] = float("-inf")  # trap: write-into-reshape

result = {"masked": int(scores.isinf().sum())}
