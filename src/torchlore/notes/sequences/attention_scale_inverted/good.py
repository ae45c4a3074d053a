import torch

q, k = torch.randn(1, 8, 100, 64), torch.randn(1, 8, 100, 64)
scale = q.size(-1) ** -0.5

scores = (q @ k.transpose(-2, -1)) * scale
result = {"spread": scores.std().item()}
