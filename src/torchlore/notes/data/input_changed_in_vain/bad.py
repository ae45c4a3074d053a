import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.rand(256, 8) * 255, torch.randint(0, 2, (256,))
data = torch.utils.data.TensorDataset(x, y)
loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True)
mean, std = x.mean(0), x.std(0)
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
seen = []
model.register_forward_pre_hook(lambda _, given: seen.append(given[0].mean().item()))

for x, y in loader:
    scaled = (x - mean) / std  # trap: input-changed-in-vain
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()

result = {"mean": sum(seen) / len(seen)}
