import torch
from torch import nn

from torchlore.recipes.tensors import pairwise_euclidean

embed = nn.Linear(8, 4)
optimizer = torch.optim.SGD(embed.parameters(), lr=0.1)
labels = torch.arange(16) % 2
same = labels[:, None] == labels

z = embed(torch.randn(16, 8))
distance = pairwise_euclidean(z, z)
loss = distance[same].mean() - distance[~same].mean()
optimizer.zero_grad()
loss.backward()
optimizer.step()

result = {"nan_weights": int(embed.weight.isnan().sum())}
