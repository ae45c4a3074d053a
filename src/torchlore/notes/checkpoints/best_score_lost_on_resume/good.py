import io

import torch
from torch import nn


def train(scores, last=None, best=None):
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    start, best_acc = 0, 0.0
    if last is not None:
        checkpoint = torch.load(last, map_location="cpu")
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        start, best_acc = checkpoint["epoch"] + 1, checkpoint["best_acc"]
    for epoch in range(start, len(scores)):
        model(torch.randn(4, 2)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        if scores[epoch] > best_acc:
            best_acc = scores[epoch]
            best = io.BytesIO()
            torch.save({"model": model.state_dict(), "acc": best_acc}, best)
        last = io.BytesIO()
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save({**state, "epoch": epoch, "best_acc": best_acc}, last)
    last.seek(0)
    best.seek(0)
    return last, best


last, best = train([0.5, 0.9, 0.8])
_, best = train([0.5, 0.9, 0.8, 0.7], last, best)
result = {"kept": torch.load(best, map_location="cpu")["acc"]}
