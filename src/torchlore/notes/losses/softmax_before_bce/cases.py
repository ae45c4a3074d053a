import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=1))

    def forward(self, x):
        return self.body(x)


net, loss_fn = Net(), nn.BCELoss()


def bad(x, y, logits):
    a = loss_fn(net(x), y)  # trap: softmax-before-bce
    b = F.binary_cross_entropy(F.softmax(logits, dim=-1), y)  # trap: softmax-before-bce
    p = logits.softmax(1)
    return a + b + loss_fn(p, y)  # trap: softmax-before-bce


def fine(x, y, logits, probs):
    p = F.softmax(logits, dim=1)[:, 1]
    a = loss_fn(p, y)
    b = F.binary_cross_entropy(torch.softmax(logits, 1)[:, 1], y)
    c = loss_fn(torch.sigmoid(logits), y)
    d = F.binary_cross_entropy_with_logits(logits, y)
    return a + b + c + d + loss_fn(probs, y)
