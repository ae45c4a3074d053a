import torch
from torch.nn import functional as F

n, temperature = 16, 0.1
views = F.one_hot(torch.arange(n)).float()
z = torch.cat([views, views])  # two views of each sample that agree perfectly

similarity = z @ z.T / temperature
other = torch.arange(2 * n).roll(n)
loss = F.cross_entropy(similarity, other)  # trap: similarity-with-itself

result = {"loss": loss.item()}
