import torch
from torch import nn

body, head = nn.Linear(8, 8), nn.Linear(8, 2)
optimizer = torch.optim.SGD(
    [
        {"params": body.parameters()},
        {"params": head.parameters(), "learning_rate": 0.01},  # trap: optimizer-group-key
    ],
    lr=0.1,
)
result = {"head_lr": optimizer.param_groups[1]["lr"]}
