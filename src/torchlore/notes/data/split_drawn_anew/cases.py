import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, random_split

parser = argparse.ArgumentParser()
parser.add_argument("--resume", default="")
args = parser.parse_args()


def main(data, model: nn.Module, optimizer, epochs=10):
    n = int(0.9 * len(data))
    train_set, val_set = random_split(data, [n, len(data) - n])  # trap: split-drawn-anew
    begin = 0
    if args.resume:
        state = torch.load(args.resume, map_location="cpu", weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        begin = state["epoch"] + 1
    for epoch in range(begin, epochs):
        for x, y in DataLoader(train_set, batch_size=32, shuffle=True):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, "last.pt")
    return val_set


def fixed(data):
    generator = torch.Generator()
    return random_split(data, [0.9, 0.1], generator=generator)


def crossed(data, model, optimizer, epochs):
    for _ in range(epochs):
        train_set, val_set = random_split(data, [0.8, 0.2])  # trap: split-drawn-anew
        for x, y in DataLoader(train_set, batch_size=32, shuffle=True):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        print(len(val_set))


def repeated(data, times):
    for _ in range(times):
        train_set, val_set = random_split(data, [0.8, 0.2], generator=torch.Generator())
        model = nn.Linear(10, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in DataLoader(train_set, batch_size=32, shuffle=True):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        print(len(val_set))
