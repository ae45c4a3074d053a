import torch
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

data = TensorDataset(torch.arange(64.0).unsqueeze(1))
sampler = DistributedSampler(data, num_replicas=2, rank=0)
loader = DataLoader(data, batch_size=8, sampler=sampler)
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)

orders = []
for epoch in range(3):  # trap: sampler-set-epoch-missing
    seen = []
    for (x,) in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), x).backward()
        optimizer.step()
        seen += x.flatten().tolist()
    orders.append(seen)

result = {"same_order": orders[0] == orders[1] == orders[2]}
