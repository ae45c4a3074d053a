import torch
from torch.nn import functional as F

n, temperature = 16, 0.1
views = F.one_hot(torch.arange(n)).float()
z = torch.cat([views, views])  # two views of each sample that agree perfectly

similarity = z @ z.T / temperature
similarity = similarity.masked_fill(torch.eye(2 * n, dtype=torch.bool), float("-inf"))
other = torch.arange(2 * n).roll(n)
loss = F.cross_entropy(similarity, other)

result = {"loss": loss.item()}
