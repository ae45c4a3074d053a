import torch

torch.manual_seed(0)
q, k, v = torch.randn(2, 5, 8), torch.randn(2, 5, 8), torch.ones(2, 5, 1)

scores = torch.bmm(q, k.transpose(1, 2)) / 8**0.5
weights = torch.softmax(scores, dim=1)  # trap: softmax-over-queries
out = torch.bmm(weights, v)
result = {"most": out.max().item()}
