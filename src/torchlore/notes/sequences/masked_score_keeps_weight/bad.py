import torch

torch.manual_seed(0)
scores = torch.randn(2, 4, 4)
mask = torch.tensor([1, 1, 0, 0])
weights = torch.softmax(scores.masked_fill(mask == 0, 1e-9), dim=-1)  # trap: masked-score-keeps-weight
result = {"hidden_weight": weights[..., 2:].mean().item()}
