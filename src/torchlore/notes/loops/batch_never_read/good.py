import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(64, 4), torch.randint(0, 2, (64,)))
loader = DataLoader(data, batch_size=8, shuffle=True)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
seen = set()
model.register_forward_pre_hook(lambda _, given: seen.add(given[0].sum().item()))

for batch, targets in loader:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(batch), targets)
    loss.backward()
    optimizer.step()

result = {"seen": len(seen)}
