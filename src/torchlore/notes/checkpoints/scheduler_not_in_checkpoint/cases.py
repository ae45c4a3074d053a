import torch
from torch import nn
from torch.optim.lr_scheduler import ExponentialLR, StepLR


def train_dict(loader, criterion, path):
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    lr_policy = StepLR(optimizer, 3)
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        lr_policy.step()
        checkpoint = {
            "epoch": epoch,
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),  # trap: scheduler-not-in-checkpoint
        }
        torch.save(checkpoint, path)


def train_dict_call(x, y, path):
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = StepLR(optimizer, 3)
    for epoch in range(10):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        scheduler.step()
        torch.save(dict(net=model.state_dict(), opt=optimizer.state_dict()), path)  # trap: scheduler-not-in-checkpoint


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.scheduler = StepLR(self.optimizer, 3)

    def save(self, path):
        torch.save({"m": self.model.state_dict(), "o": self.optimizer.state_dict()}, path)  # trap: scheduler-not-in-checkpoint

    def fit(self, x, y, path):
        for epoch in range(10):
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x), y).backward()
            self.optimizer.step()
            self.scheduler.step()
            self.save(path)


def weights_only(x, y, path):
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = StepLR(optimizer, 3)
    for epoch in range(10):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        scheduler.step()
        torch.save({"model": model.state_dict(), "epoch": epoch}, path)


def added_later(x, y, path):
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = StepLR(optimizer, 3)
    for epoch in range(10):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        sched.step()
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        state["sched"] = sched.state_dict()
        torch.save(state, path)


def rebuilt_from_the_epoch(x, y, path, start):
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD([{"params": model.parameters(), "initial_lr": 0.1}], lr=0.1)
    scheduler = StepLR(optimizer, 3, last_epoch=start - 1)
    for epoch in range(start, 10):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        scheduler.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, path)


def no_scheduler(x, y, path):
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)


def told_by_hand(model, optimizer, policy_by_hand, start, path):
    policy_by_hand.last_epoch = start - 1
    for epoch in range(start, 10):
        optimizer.step()
        policy_by_hand.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)


def goes_on_by_itself(model, x, y, path):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    decay = ExponentialLR(optimizer, 0.9)
    for epoch in range(10):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        decay.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, path)


def told_the_epoch(model, x, y, path):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    steps = StepLR(optimizer, 3)
    for epoch in range(10):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        steps.step(epoch)
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, path)


def catches_up(model, x, y, path, start):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    caught = StepLR(optimizer, 3)
    for _ in range(start):
        caught.step()
    for epoch in range(start, 10):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        caught.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, path)


def told_once(model, path, loader, resume):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    start_epoch = 0
    if resume:
        state = torch.load(path, map_location="cpu")
        optimizer.load_state_dict(state["optimizer"])
        start_epoch = state["epoch"] + 1
    cosine_told = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    if start_epoch > 0:
        cosine_told.step(start_epoch)
    for epoch in range(start_epoch, 10):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        cosine_told.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, path)


def told_by_name(model, path, loader, resume):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    named_told = torch.optim.lr_scheduler.MultiStepLR(optimizer, [4, 8])
    first = 0
    if resume:
        state = torch.load(path, map_location="cpu")
        optimizer.load_state_dict(state["optimizer"])
        first = state["epoch"] + 1
    for epoch in range(first, 10):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        named_told.step(epoch=epoch)
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, path)
