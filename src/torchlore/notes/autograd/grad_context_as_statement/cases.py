import contextlib

import torch
from torch import autocast, inference_mode
from torch.amp import autocast as amp


def evaluate(model, loader):
    inference_mode()  # trap: grad-context-as-statement
    return [model(batch) for batch in loader]


def half(model, batch):
    autocast("cuda")  # trap: grad-context-as-statement
    amp("cuda", dtype=torch.bfloat16)  # trap: grad-context-as-statement
    return model(batch)


class Holder:
    def __init__(self):
        self.context = torch.no_grad()
        self.context.__enter__()


@torch.no_grad()
def decorated(model, batch):
    return model(batch)


def stacked(model, batch):
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        return model(batch)


def chosen(model, batch, train):
    context = contextlib.nullcontext() if train else torch.no_grad()
    with context, torch.autocast("cpu"):
        return model(batch)


torch.set_grad_enabled(True)
torch.autograd.set_detect_anomaly(True)
