import torch
from torch import nn


def train_epoch(model, optimizer, scaler):
    for _ in range(5):
        optimizer.zero_grad()
        loss = model(torch.ones(1, 2)).mean() * 2
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


torch.manual_seed(0)
model = nn.Linear(2, 1)
with torch.no_grad():
    model.weight.fill_(2.0)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
made = []
optimizer.register_step_post_hook(lambda *_: made.append(1))
for _epoch in range(4):
    train_epoch(model, optimizer, scaler)
result = {"skipped": 20 - len(made)}
