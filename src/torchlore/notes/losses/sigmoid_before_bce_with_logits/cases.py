import functools
import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(4, 1)
x, y = torch.randn(5, 4), torch.ones(5, 1)

loss = F.binary_cross_entropy_with_logits(torch.sigmoid(net(x)), y)  # trap: sigmoid-before-bce-with-logits
out = net(x).sigmoid()  # trap: sigmoid-before-bce-with-logits
loss = nn.BCEWithLogitsLoss(pos_weight=torch.ones(1))(out.squeeze(1), y.squeeze(1))
loss = F.binary_cross_entropy(torch.sigmoid(net(x)), y)
loss = F.binary_cross_entropy_with_logits(net(x), torch.sigmoid(net(x)).detach())
gate = torch.sigmoid(net(x)) * x
loss = F.binary_cross_entropy_with_logits(net(gate), y)


CHOICE = {"loss": "bce"}
TABLE = {"bce": functools.partial(F.binary_cross_entropy_with_logits, reduction="sum"), "l1": F.l1_loss}


def chosen(x, y):
    squashed = torch.sigmoid(nn.Linear(4, 1)(x))  # trap: sigmoid-before-bce-with-logits
    return TABLE[CHOICE["loss"]](squashed, y)
