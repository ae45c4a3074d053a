import torch
import torch.nn.functional as F

logits = torch.randn(20, 4, 6, requires_grad=True)  # (time, batch, classes)
targets = torch.randint(1, 6, (4, 5))
lengths = torch.full((4,), 20), torch.full((4,), 5)


def loss_of(logits):
    return F.ctc_loss(logits, targets, *lengths)  # trap: ctc-on-logits


result = {"loss": loss_of(logits).item(), "shifted": loss_of(logits + 5).item()}
