import torch
from torch import nn
from torch.nn import functional as F


def over_time(cell, head, x, y, opt, scaler):
    criterion, h = nn.CrossEntropyLoss(), torch.zeros(2, 8)
    opt.zero_grad()
    for t in range(x.size(0)):
        h = cell(x[t], h)
        loss = criterion(head(h), y[t])  # trap: loss-overwritten-in-loop
        print(f"{t}: {loss.item()}")
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()


class Trainer:
    def __init__(self, model):
        self.model, self.criterion = model, nn.MSELoss()
        self.optimizer = torch.optim.Adam(model.parameters())

    def step(self, batch):
        self.optimizer.zero_grad()
        for name, target in batch["targets"].items():
            wanted = target.float()
            loss = self.criterion(self.model(batch["x"])[name], wanted)  # trap: loss-overwritten-in-loop
        loss.backward()
        self.optimizer.step()


# clean
def added(outs, targets, opt):
    loss, parts = 0, []
    for out, target in zip(outs, targets, strict=True):
        part = F.mse_loss(out, target)
        parts.append(part)
        loss = loss + part
    opt.zero_grad()
    loss.backward()
    opt.step()


def inside(model, loader, opt):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss


def refined(model, x, y, opt, steps=4):
    state = model.start(x)
    for _ in range(steps):
        state = model.improve(state)
        loss = F.mse_loss(state, y)
    opt.zero_grad()
    loss.backward()
    opt.step()


def collected(outs, targets, opt):
    losses = []
    for out, target in zip(outs, targets, strict=True):
        loss = F.mse_loss(out, target)
        losses.append(loss)
    loss = sum(losses)
    opt.zero_grad()
    loss.backward()
    opt.step()


def first_that_fits(outs, targets, opt):
    for out, target in zip(outs, targets, strict=True):
        loss = F.mse_loss(out, target)
        if loss < 1:
            break
    opt.zero_grad()
    loss.backward()
    opt.step()


def deep_supervision(outputs, mask, weights=(0.2, 0.3, 1.0)):
    loss = 0
    for out, weight in zip(outputs, weights, strict=True):
        loss = weight * F.binary_cross_entropy_with_logits(out, mask)  # trap: loss-overwritten-in-loop
    return loss


def worst_level(outputs, mask):
    worst = 0.0
    for out in outputs:
        worst = max(worst, F.binary_cross_entropy_with_logits(out, mask).item())
    return worst


def last_refinement(outputs, mask):  # starts at nothing: the last one may be wanted
    loss = None
    for out in outputs:
        loss = F.binary_cross_entropy_with_logits(out, mask)
    return loss


def last_norm(model, lam):
    l2 = torch.tensor(0.0)
    for name, p in model.named_parameters():
        if name.endswith("weight"):
            l2 = torch.norm(p)  # trap: loss-overwritten-in-loop
    return lam * l2


def all_norms(model, lam):
    l2 = torch.tensor(0.0)
    for p in model.parameters():
        l2 = l2 + torch.norm(p)
    return lam * l2


def largest_norm(model):
    top = 0.0
    for p in model.parameters():
        size = p.norm().item()
        top = max(top, size)
    return top
