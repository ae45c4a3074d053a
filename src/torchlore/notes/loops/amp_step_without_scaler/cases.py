import torch
from torch import nn


class Trainer:
    def __init__(self, model, amp):
        self.model, self.amp = model, amp
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.scaler = torch.amp.GradScaler("cuda")

    def one(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.model(x), y)
        self.scaler.scale(loss).backward()
        nn.utils.clip_grad_value_(self.model.parameters(), 1.0)
        self.optimizer.step()  # trap: amp-step-without-scaler
        self.scaler.update()
        return loss.item()

    def right(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.model(x), y)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def either(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.model(x), y)
            if self.amp:
                self.scaler.scale(loss).backward()
                self.scaler.step(self.optimizer)
                self.scaler.update()
            else:
                loss.backward()
                self.optimizer.step()

    def two_branches(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.model(x), y)
            if self.amp:
                self.scaler.scale(loss).backward()
            else:
                loss.backward()
            if self.amp:
                self.scaler.step(self.optimizer)
                self.scaler.update()
            else:
                self.optimizer.step()

    def by_hand(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            self.scaler.scale(nn.functional.mse_loss(self.model(x), y)).backward()
            self.scaler.unscale_(self.optimizer)
            self.optimizer.step()
            self.scaler.update()


def scaled_for_nothing(model, loader, criterion, optimizer, scaler):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        scaler.scale(loss)  # trap: amp-step-without-scaler
        loss.backward()
        scaler.step(optimizer)
        scaler.update()


def two_losses(model, loader, optimizer, scaler: torch.amp.GradScaler):
    for x, y, z in loader:
        optimizer.zero_grad()
        a, b = model(x)
        scaler.scale((a - y).pow(2).mean()).backward(retain_graph=True)
        (b - z).pow(2).mean().backward()  # trap: amp-step-without-scaler
        scaler.step(optimizer)
        scaler.update()


def two_players(maker, judge, loader, first, second, scaler: torch.amp.GradScaler):
    for x in loader:
        second.zero_grad()
        (judge(maker(x).detach()) - judge(x)).mean().backward()
        second.step()
        first.zero_grad()
        scaler.scale(-judge(maker(x)).mean()).backward()
        scaler.step(first)
        scaler.update()
