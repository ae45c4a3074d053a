import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)
labels = (torch.arange(1000) % 10 == 0).long()
data = TensorDataset(torch.randn(1000, 4), labels)
shares = 1.0 / torch.bincount(labels)
sampler = WeightedRandomSampler(shares[labels], len(labels))  # trap: made-and-never-used
loader = DataLoader(data, batch_size=50, shuffle=True)

seen = torch.cat([y for _, y in loader])
result = {"rare": seen.float().mean().item()}
