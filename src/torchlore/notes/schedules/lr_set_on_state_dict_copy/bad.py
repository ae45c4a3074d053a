import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randn(16, 1)


def adjust(optimizer, epoch):
    for group in optimizer.state_dict()["param_groups"]:  # trap: lr-set-on-state-dict-copy
        group["lr"] = 0.1 * 0.1**epoch


used = []
for epoch in range(3):
    adjust(optimizer, epoch)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    used.append(round(optimizer.param_groups[0]["lr"], 6))

result = {"used": used}
