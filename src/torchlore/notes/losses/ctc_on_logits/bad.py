import torch
import torch.nn.functional as F
from torch import nn

head = nn.Linear(8, 6)
features = torch.randn(20, 4, 8)  # (time, batch, features)
targets = torch.randint(1, 6, (4, 5))
lengths = torch.full((4,), 20), torch.full((4,), 5)


def loss_of(features):
    logits = head(features)
    return F.ctc_loss(logits, targets, *lengths)  # trap: ctc-on-logits


loss = loss_of(features).item()
with torch.no_grad():
    head.bias += 5  # every class likelier by the same factor: nothing has changed
result = {"loss": loss, "shifted": loss_of(features).item()}
