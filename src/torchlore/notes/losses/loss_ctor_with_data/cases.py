import torch
import torch.nn as nn
from torch.nn import BCELoss

x, y = torch.rand(4), torch.rand(4)
a = nn.L1Loss(x, y)  # trap: loss-ctor-with-data
b = BCELoss(torch.sigmoid(x), y)  # trap: loss-ctor-with-data
c = torch.nn.CrossEntropyLoss(x.view(1, 4), torch.tensor([1]))  # trap: loss-ctor-with-data

weight = torch.ones(4)
d = nn.CrossEntropyLoss(weight)
e = nn.CrossEntropyLoss(weight, reduction="none")(x.view(1, 4), torch.tensor([1]))
f = nn.MSELoss()(x, y)


def unknown(p, q):
    return nn.MSELoss(p, q)
