import torch
import torch.nn.functional as F

logits = torch.randn(20, 4, 6, requires_grad=True)  # (time, batch, classes)
targets = torch.randint(1, 6, (4, 5))
lengths = torch.full((4,), 20), torch.full((4,), 5)


def loss_of(logits):
    return F.ctc_loss(F.log_softmax(logits, dim=-1), targets, *lengths)


result = {"loss": loss_of(logits).item(), "shifted": loss_of(logits + 5).item()}
