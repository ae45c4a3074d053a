import torch
from torch import nn

model = nn.Linear(3, 3)
params = model.parameters()  # trap: exhausted-parameter-generator
optimizer = torch.optim.Adam(params)
total = sum(p.numel() for p in params)

named = (p for n, p in model.named_parameters() if "bias" in n)  # trap: exhausted-parameter-generator
for p in named:
    p.requires_grad = False
for p in named:
    print(p.shape)


def build(model, name):
    params = filter(lambda p: p.requires_grad, model.parameters())
    if name == "sgd":
        return torch.optim.SGD(params, lr=0.1)
    elif name == "adam":
        return torch.optim.Adam(params)
    return torch.optim.AdamW(params)


def branches(model, big):
    params = model.parameters()
    if big:
        optimizer = torch.optim.SGD(params, lr=1.0)
    else:
        optimizer = torch.optim.Adam(params)
    return optimizer


def clip(model, losses):
    params = model.parameters()  # trap: exhausted-parameter-generator
    for loss in losses:
        nn.utils.clip_grad_norm_(params, 1.0)


def listed(model):
    params = list(model.parameters())
    torch.optim.Adam(params)
    return sum(p.numel() for p in params)


def renewed(model):
    params = model.parameters()
    optimizer = torch.optim.Adam(params)
    params = model.parameters()
    return optimizer, sum(p.numel() for p in params)


class Trainer:
    def __init__(self, net: nn.Module):
        self.params = filter(lambda p: p.requires_grad, net.parameters())  # trap: exhausted-parameter-generator
        self.optimizer = torch.optim.Adam(self.params)
        self.kept = [p for p in net.parameters() if p.requires_grad]
        self.other = torch.optim.SGD(self.kept, lr=0.1)
        self.lazy = net.parameters()

    def step(self):
        torch.nn.utils.clip_grad_norm_(self.params, 1.0)
        torch.nn.utils.clip_grad_norm_(self.kept, 1.0)
        self.optimizer.step()

    def build(self):
        return torch.optim.SGD(self.lazy, lr=0.1)


def length_of(params):
    total = 0.0
    for p in params:
        total += p.grad.pow(2).sum().item()
    return total**0.5


def first_of(params):
    for p in params:
        return p
    return None


def clipped(model: nn.Module):
    params = model.parameters()  # trap: exhausted-parameter-generator
    before = length_of(params)
    torch.nn.utils.clip_grad_norm_(params, 1.0)
    others = model.parameters()
    first = first_of(others)
    torch.nn.utils.clip_grad_norm_(others, 1.0)
    return before, first
