import torch
from torch import nn

model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
x, y = torch.randn(64, 6), 100 * torch.randn(64, 1)
for _ in range(3):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    before = torch.cat([p.grad.flatten() for p in model.parameters()])
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    after = torch.cat([p.grad.flatten() for p in model.parameters()])
    optimizer.step()

result = {"alike": nn.functional.cosine_similarity(before, after, dim=0).item()}
