import torch
from torch import nn

from torchlore.recipes.schedules import Constant, ScheduleLR, Warmup

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
scheduler = ScheduleLR(optimizer, Warmup(Constant(), 10), per="epoch")
x, y = torch.randn(16, 4), torch.randn(16, 1)
rates, moved = [], []
for _ in range(4):
    before = model.weight.detach().clone()
    rates.append(round(optimizer.param_groups[0]["lr"], 6))
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    scheduler.step()
    moved.append((model.weight.detach() - before).abs().max().item())

result = {"rates": rates, "first_epoch_moved": moved[0]}
