"""Other spellings of steps-in-evaluation, and code that only looks like it."""
import copy

import torch
from torch import nn


def fit(model, train_loader, val_loader, epochs=3):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(epochs):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        model.eval()
        total = 0.0
        for x, y in val_loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()  # trap: steps-in-evaluation
            optimizer.step()
            total += loss.item() * len(y)
        print(total / len(val_loader.dataset))


def run_epoch(model, loader, optimizer, training):
    if training:
        model.train()
    else:
        model.eval()
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()  # trap: steps-in-evaluation
        optimizer.step()


def epochs(model, train_loader, val_loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        run_epoch(model, train_loader, optimizer, True)
        run_epoch(model, val_loader, optimizer, False)


# clean
def one_pass(model, loader, optimizer, training):
    model.train(training)
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        if training:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def search(model, arch, train_loader, valid_loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    arch_optimizer = torch.optim.Adam([arch], lr=3e-4)
    for x, y in train_loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x) * arch, y).backward()
        optimizer.step()
    for x, y in valid_loader:
        arch_optimizer.zero_grad()
        nn.functional.cross_entropy(model(x) * arch, y).backward()
        arch_optimizer.step()


def phases(model, loaders, optimizer):
    for phase in ["train", "val"]:
        for x, y in loaders[phase]:
            loss = nn.functional.cross_entropy(model(x), y)
            if phase == "val":
                continue
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def adapted(model, val_loader):
    net = copy.deepcopy(model)
    own = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in val_loader:
        own.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        own.step()
    return net


def step(model, optimizer, x, y, training):
    loss = nn.functional.cross_entropy(model(x), y)
    if training:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def by_steps(model, loader, optimizer, training):
    if training:
        model.train()
    else:
        model.eval()
    return [step(model, optimizer, x, y, training) for x, y in loader]


def by_loop(model, loader, optimizer, training):
    if training:
        model.train()
    else:
        model.eval()
    for x, y in loader:
        step(model, optimizer, x, y, training)


def learns_the_task(model, tasks, optimizer, mode):
    if mode == "train":
        model.train()
    else:
        model.eval()
    for support, labels in tasks:
        inner_loss = nn.functional.cross_entropy(model(support), labels)
        optimizer.zero_grad()
        inner_loss.backward()
        optimizer.step()


def call_them(model, loaders, optimizer, loader):
    one_pass(model, loader, optimizer, True)
    one_pass(model, loader, optimizer, False)
    phases(model, loaders, optimizer)
    by_steps(model, loader, optimizer, False)
    by_loop(model, loader, optimizer, False)
    learns_the_task(model, loader, optimizer, "eval")
