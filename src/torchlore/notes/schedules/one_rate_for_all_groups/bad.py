import torch
from torch import nn

body, head = nn.Linear(4, 4), nn.Linear(4, 2)
optimizer = torch.optim.SGD(
    [{"params": body.parameters(), "lr": 0.001}, {"params": head.parameters(), "lr": 0.1}],
    momentum=0.9,
)
x, y = torch.randn(16, 4), torch.randint(2, (16,))


def adjust(optimizer, epoch):
    lr = 0.1 * 0.5 ** (epoch // 2)
    for group in optimizer.param_groups:
        group["lr"] = lr  # trap: one-rate-for-all-groups


used = []
for epoch in range(4):
    adjust(optimizer, epoch)
    optimizer.zero_grad()
    nn.functional.cross_entropy(head(body(x)), y).backward()
    optimizer.step()
    used.append(optimizer.param_groups[0]["lr"])

result = {"body": used}
