import torch
from accelerate import Accelerator
from torch import nn

accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
model = nn.Linear(2, 1, bias=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
model, optimizer = accelerator.prepare(model, optimizer)
before = model.weight.detach().clone()

for _ in range(4):
    with accelerator.accumulate(model):
        loss = model(torch.ones(1, 2)).sum()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()

result = {"moved": (model.weight - before).abs().sum().item()}
