import torch
from torch.amp import GradScaler
from torch.nn.utils import clip_grad_norm_, clip_grad_value_


def wrong(model, loader, criterion, optimizer):
    scaler = GradScaler("cuda")
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        clip_grad_norm_(model.parameters(), 5.0)  # trap: amp-clip-without-unscale
        scaler.step(optimizer)
        scaler.update()


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters())
        self.scaler = GradScaler("cuda", enabled=True)

    def epoch(self, loader, criterion):
        for x, y in loader:
            self.optimizer.zero_grad()
            self.scaler.scale(criterion(self.model(x), y)).backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)  # trap: amp-clip-without-unscale
            self.scaler.step(self.optimizer)
            self.scaler.update()


def by_value(model, loader, criterion, optimizer, scaler):
    for x, y in loader:
        optimizer.zero_grad()
        scaler.scale(criterion(model(x), y)).backward()
        clip_grad_value_(model.parameters(), 0.5)  # trap: amp-clip-without-unscale
        scaler.step(optimizer)
        scaler.update()


def right(model, loader, criterion, optimizer, scaler):
    for x, y in loader:
        optimizer.zero_grad()
        scaler.scale(criterion(model(x), y)).backward()
        scaler.unscale_(optimizer)
        clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()


def unscaled_if_asked(model, loader, criterion, optimizer, scaler, clip):
    for x, y in loader:
        optimizer.zero_grad()
        scaler.scale(criterion(model(x), y)).backward()
        if clip:
            scaler.unscale_(optimizer)
            clip_grad_norm_(model.parameters(), clip)
        scaler.step(optimizer)
        scaler.update()


def no_scaler(model, loader, criterion, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16):
            loss = criterion(model(x), y)
        loss.backward()
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def unscaled_too_late(model, loader, criterion, optimizer, scaler):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # trap: amp-clip-without-unscale
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()


class Engine:
    def __init__(self, model):
        self.model, self.scaler = model, torch.amp.GradScaler("cpu")
        self.optimizer = torch.optim.AdamW(model.parameters())

    def update(self, loss):
        self.scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)  # trap: amp-clip-without-unscale
        self.scaler.unscale_(self.optimizer)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()

    def train(self, loader):
        for x, y in loader:
            self.update(torch.nn.functional.mse_loss(self.model(x), y))
