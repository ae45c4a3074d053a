import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
scheduler = ReduceLROnPlateau(optimizer, patience=2)  # trap: plateau-mode-min-on-accuracy


def validate(epoch):
    return 0.5 + 0.02 * epoch


for epoch in range(12):
    val_acc = validate(epoch)
    scheduler.step(val_acc)

result = {"lr": optimizer.param_groups[0]["lr"]}
