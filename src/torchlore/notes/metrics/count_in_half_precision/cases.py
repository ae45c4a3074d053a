import torch
from torch import nn


class Meter:
    def __init__(self, device):
        self.total = torch.tensor(0.0, dtype=torch.float16, device=device)  # trap: count-in-half-precision
        self.hits = torch.zeros(10, device=device).bfloat16()  # trap: count-in-half-precision
        self.fine = torch.tensor(0.0, device=device)

    def update(self, loss, logits, y):
        self.total += loss.detach().sum()
        self.hits += (logits.argmax(1) == y).sum(0)
        self.fine += loss.detach().sum()


def losses(model, loader, device):
    running = torch.zeros(1, device=device, dtype=torch.half)  # trap: count-in-half-precision
    seen = torch.zeros(1).to(device, torch.bfloat16)  # trap: count-in-half-precision
    for x, y in loader:
        running += nn.functional.cross_entropy(model(x), y)
        seen += len(y)
    return running / seen


def mixture(experts, weights, x):
    out = torch.zeros((len(x), 16), dtype=torch.bfloat16)
    for weight, expert in zip(weights, experts, strict=True):
        out += weight * expert(x)
    return out


def right(model, loader, dtype, device):
    correct = torch.zeros((), dtype=torch.long, device=device)
    total = torch.zeros((), dtype=torch.float32)
    scale = torch.tensor(1.0, dtype=torch.bfloat16)
    scale += 1
    for x, y in loader:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(x.to(dtype))
        correct += (logits.argmax(1) == y).sum()
        total += nn.functional.cross_entropy(logits.float(), y)
    return correct, total, scale


def either(loader, precise):
    dtype = torch.float32 if precise else torch.bfloat16
    count = torch.zeros((), dtype=dtype)
    for batch in loader:
        count += len(batch)
    return count


def rebound(loader, dtype=torch.bfloat16):
    hits, kept = torch.tensor([0.0], dtype=dtype), None  # trap: count-in-half-precision
    for logits, y in loader:
        right_ones = torch.sum(logits.argmax(1) == y)
        hits = hits + right_ones
        kept = logits
    return hits, kept
