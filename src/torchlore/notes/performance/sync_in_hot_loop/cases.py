"""Other spellings of sync-in-hot-loop, and code that only looks like it."""
import torch
from torch import nn


def train(model: nn.Module, loader, optimizer, criterion: nn.CrossEntropyLoss):
    model.cuda()
    correct = 0
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        optimizer.zero_grad()
        out = model(x)
        loss = criterion(out, y)
        loss.backward()
        optimizer.step()
        print("loss", loss)  # trap: sync-in-hot-loop
        correct += (out.argmax(1) == y).sum().item()  # trap: sync-in-hot-loop
        value = float(loss)  # trap: sync-in-hot-loop
    return correct, value


# clean
def quiet(model: nn.Module, loader, optimizer, criterion: nn.CrossEntropyLoss):
    model.to("cuda")
    total = torch.zeros((), device="cuda")
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(x.to("cuda")), y.to("cuda"))
        loss.backward()
        optimizer.step()
        total += loss.detach()
        if step % 50 == 0:
            print(step, loss.item())
    return total.item()
