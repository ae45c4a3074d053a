import torch

torch.manual_seed(0)
mask = torch.zeros(4, 2, 64)
mask[:, 1, :4] = 1
mask[:, 0] = 1 - mask[:, 1]
prob = (0.7 * mask + 0.3 * torch.rand(4, 2, 64)).clamp(0, 1)
w = 1 / mask.sum(2) ** 2
inter = (prob * mask).sum(2)
union = (prob + mask).sum(2)
score = (2 * inter * w) / (union * w)  # trap: weight-cancels

result = {"weighted": 1 - score.mean().item(), "plain": 1 - (2 * inter / union).mean().item()}
