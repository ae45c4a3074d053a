import io

import torch
from torch import nn


def parts():
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, step_size=3)


model, optimizer, scheduler = parts()
for _ in range(5):
    optimizer.zero_grad()
    model(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    scheduler.step()
file = io.BytesIO()
torch.save({"model": model.state_dict(), "opt": optimizer.state_dict(), "sched": scheduler.state_dict()}, file)
file.seek(0)

kept = torch.load(file, map_location="cpu", weights_only=True)
model, optimizer, scheduler = parts()
model.load_state_dict(kept["model"])
optimizer.load_state_dict(kept["opt"])
scheduler.load_state_dict(kept["sched"])

result = {"epoch": scheduler.last_epoch}
