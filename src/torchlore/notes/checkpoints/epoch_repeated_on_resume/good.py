import io

import torch
from torch import nn


def train(epochs, done, last=None):
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    start = 0
    if last is not None:
        checkpoint = torch.load(last, map_location="cpu")
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        start = checkpoint["epoch"] + 1
    for epoch in range(start, epochs):
        optimizer.zero_grad()
        model(torch.randn(4, 2)).square().mean().backward()
        optimizer.step()
        done.append(epoch)
        last = io.BytesIO()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, last)
    last.seek(0)
    return last


epochs = []
train(3, epochs, train(2, epochs))
result = {"epochs": epochs}
