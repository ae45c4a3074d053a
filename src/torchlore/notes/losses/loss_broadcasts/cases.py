import torch
import torch.nn.functional as F
from torch import nn

criterion = nn.MSELoss()
head = nn.Linear(16, 1)
features = torch.randn(32, 16)
flat = torch.randn(32)
column = torch.randn(32, 1)

criterion(head(features), flat)  # trap: loss-broadcasts
F.smooth_l1_loss(head(features), flat)  # trap: loss-broadcasts
nn.L1Loss()(flat, head(features))  # trap: loss-broadcasts

criterion(head(features), column)
criterion(head(features).squeeze(-1), flat)
criterion(head(features)[:, 0], flat)
criterion(head(features), flat.unsqueeze(1))
criterion(head(features), flat[:, None])
criterion(head(features).view(-1), flat)
criterion(head(features).flatten(), flat)


def train(model, loader):
    for inputs, targets in loader:
        criterion(model(inputs), targets)
