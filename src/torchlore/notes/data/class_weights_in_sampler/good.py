import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

labels = torch.cat([torch.zeros(180), torch.ones(20)]).long()
data = TensorDataset(torch.arange(200), labels)
class_weights = 1.0 / torch.bincount(labels)
sampler = WeightedRandomSampler(class_weights[labels], num_samples=200)
loader = DataLoader(data, batch_size=20, sampler=sampler)

seen = set()
for index, _ in loader:
    seen.update(index.tolist())

result = {"different_samples": len(seen)}
