import torch
from torch import nn


def trained(model, loader, optimizer):
    losses = []
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        return sum(losses) / len(losses)  # trap: return-inside-the-loop


def epochs(model, loader, optimizer):
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        print(epoch)
        return model  # trap: return-inside-the-loop


def first_that_fits(models, x):
    tried = 0
    for model in models:
        tried += 1
        if model(x).isnan().any():
            continue
        return model, tried


def first_batch(model, loader):
    for x, _ in loader:
        return model(x)


def looked_for(model, loader, limit):
    total = 0.0
    for x, y in loader:
        total += nn.functional.mse_loss(model(x), y).item()
        if total > limit:
            return total
    return total


def one_step(model, loader, optimizer):
    x, y = next(iter(loader))
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()


def counted_anew(loader):
    for x, _ in loader:
        total = 0.0
        for row in x:
            total += row.sum().item()
        return torch.tensor(total)


class Meter:
    def __init__(self):
        self.sum = self.count = 0

    def update(self, value):
        self.sum, self.count = self.sum + value, self.count + 1


def metered(model, loader):
    meter = Meter()
    for x, y in loader:
        with torch.no_grad():
            meter.update(nn.functional.mse_loss(model(x), y).item())
            return meter.sum / meter.count  # trap: return-inside-the-loop


def tried_out(model, train_loader, optimizer, epochs):
    for _ in range(epochs):
        for x, y in train_loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            break  # trap: return-inside-the-loop


def one_is_enough(model, train_loader, optimizer, epochs):
    for x, y in train_loader:
        break
    for _ in range(epochs):
        for x, y in train_loader:
            if not x.isfinite().all():
                continue
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            break
