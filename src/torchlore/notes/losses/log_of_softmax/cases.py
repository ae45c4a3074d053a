import torch
import torch.nn as nn
import torch.nn.functional as F


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        p = F.softmax(self.fc(x), dim=1)
        return p.log()  # trap: log-of-softmax


def bad(x):
    a = torch.log(torch.sigmoid(x))  # trap: log-of-softmax
    b = x.softmax(-1).log()  # trap: log-of-softmax
    c = torch.log(torch.softmax(x, dim=1))  # trap: log-of-softmax
    return a, b, c


def fine(x, counts):
    a = F.log_softmax(x, dim=1) + F.logsigmoid(x)
    b = torch.log(counts) + (1 + x).log()
    p = F.softmax(x, dim=1)
    c = torch.log(p + 1e-8)
    d = p.clamp(min=1e-6).log()
    e = torch.logsumexp(x, 1)
    return a, b, c, d, e


def clamped_in_place(x):
    p = F.softmax(x, dim=1)
    p.data.clamp_(0.01, 0.99)
    return p.log()


def drawn(x):
    return torch.log(F.gumbel_softmax(x, tau=0.5))


def bounded(score):
    score = torch.clamp(torch.sigmoid(score), 1e-7, 1 - 1e-7)
    return -torch.log(score).mean()


table = torch.log(torch.sigmoid(torch.arange(-6.0, 6.0, 0.01)))


def picked_from_a_clamped(logits, labels, eps):
    probs = torch.softmax(logits, dim=-1).clamp(eps, 1.0)
    pt = probs.gather(1, labels.view(-1, 1)).squeeze(1)
    return -((1 - pt) ** 2 * pt.log()).mean()
