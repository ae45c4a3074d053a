import copy

import torch
from torch import nn


class Stopper:
    def __init__(self):
        self.best, self.state = 0.0, None

    def look(self, score, model):
        if score > self.best:
            self.best = score
            self.state = model.state_dict()  # trap: state-dict-alias


def train(model, loader, path):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    stopper, snapshots, deep, best = Stopper(), [], None, {}
    for epoch in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
        stopper.look(-loss.item(), model)
        snapshots.append(model.state_dict())  # trap: state-dict-alias
        best = {"epoch": epoch, "model": model.state_dict()}  # trap: state-dict-alias
        shallow = model.state_dict().copy()  # trap: state-dict-alias
        deep = copy.deepcopy(model.state_dict())
        by_hand = {k: v.clone() for k, v in model.state_dict().items()}
        state = {"epoch": epoch, "model": model.state_dict()}
        torch.save(state, path)
        torch.save(model.state_dict(), path)
    model.load_state_dict(stopper.state)
    model.load_state_dict(best["model"])
    model.load_state_dict(shallow)
    model.load_state_dict(by_hand)
    return snapshots, deep


def once(model):
    state = model.state_dict()
    return {name: value.shape for name, value in state.items()}


def saved_at_once(model, loader, optimizer, criterion, path):
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
        if step % 100 == 0:
            checkpoint = {"model": model.state_dict(), "step": step}
            torch.save(checkpoint, path)
    checkpoint = {"model": model.state_dict()}
    torch.save(checkpoint, path)


class Saver:
    def __init__(self, model, loader, path):
        self.model, self.loader, self.path = model, loader, path
        self.optimizer = torch.optim.Adam(model.parameters())

    def fit(self):
        for x, y in self.loader:
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x), y).backward()
            self.optimizer.step()
            self.save()

    def save(self):
        if isinstance(self.model, nn.DataParallel):
            state = self.model.module.state_dict()
        else:
            state = self.model.state_dict()
        torch.save({"model": state}, self.path)


def saved_at_once(model, loader, opt, amp, path):
    for step, (x, y) in enumerate(loader):
        opt.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        opt.step()
        if step % 100 == 0:
            kept = {"step": step}
            if amp is not None:
                kept["model"] = model.state_dict()
            torch.save(kept, path)


class Client:
    def __init__(self, loader):
        self.loader = loader

    def train(self, net):
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for x, y in self.loader:
            opt.zero_grad()
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            opt.step()
        return net.state_dict(), loss.item()  # trap: state-dict-alias

    def train_copy(self, net):
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for x, y in self.loader:
            opt.zero_grad()
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            opt.step()
        return net.state_dict(), loss.item()


def federated(clients, server, local):
    weights, right = [], []
    for client in clients:
        local.load_state_dict(server.state_dict())
        state, _ = Client(client).train(local)
        weights.append(state)
        state, _ = Client(client).train_copy(copy.deepcopy(server))
        right.append(state)
    return weights, right


def one_net_each(nets, loaders, optimizers, rounds):
    for _ in range(rounds):
        states = {}
        for i in range(len(nets)):
            for x, y in loaders[i]:
                optimizers[i].zero_grad()
                torch.nn.functional.cross_entropy(nets[i](x), y).backward()
                optimizers[i].step()
            states[i] = nets[i].state_dict()
        mean = {name: sum(one[name] for one in states.values()) / len(states) for name in states[0]}
    return mean


def saved_behind_the_loop(model: nn.Module, optimizer, loader, path):
    for epoch in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        state = {"model": model.state_dict(), "epoch": epoch}
    torch.save(state, path)


def read_after_more_steps(model: nn.Module, optimizer, loader, path):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        state = model.state_dict()  # trap: state-dict-alias
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    torch.save(state, path)


class Patience:
    def __init__(self):
        self.best, self.weights, self.copied = None, None, None

    def __call__(self, loss, model):
        if self.best is None or loss < self.best:
            self.best = loss
            self.weights = model.state_dict()  # trap: state-dict-alias
            self.copied = {k: v.clone() for k, v in model.state_dict().items()}
        return False

    def restore(self, model):
        model.load_state_dict(self.weights)


def stopped(model, optimizer, x):
    stopper = Patience()
    for _ in range(9):
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        if stopper(loss.item(), model):
            break
    stopper.restore(model)


class Shadow:
    def __init__(self, net: nn.Module, beta):
        self.net, self.beta = net, beta
        self.shadow = net.state_dict()  # trap: state-dict-alias
        self.copied_shadow = {k: v.clone() for k, v in net.state_dict().items()}

    def update(self):
        for name, value in self.net.state_dict().items():
            self.shadow[name].mul_(self.beta).add_(value, alpha=1 - self.beta)
            self.copied_shadow[name].mul_(self.beta).add_(value, alpha=1 - self.beta)
