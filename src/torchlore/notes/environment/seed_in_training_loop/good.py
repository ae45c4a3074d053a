import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.arange(64), torch.randn(64, 4)), batch_size=16, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

torch.manual_seed(0)
orders = set()
for _ in range(3):
    order = []
    for index, x in loader:
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        order += index.tolist()
    orders.add(tuple(order))

result = {"different_orders": len(orders)}
