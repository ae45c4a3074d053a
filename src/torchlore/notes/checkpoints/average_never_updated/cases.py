import copy

import torch
from torch import nn


class ExponentialMovingAverage:
    def __init__(self, model, decay=0.99):
        self.decay = decay
        self.shadow = {name: param.data.clone() for name, param in model.named_parameters()}

    def step(self, model):
        for name, param in model.named_parameters():
            self.shadow[name] = self.decay * self.shadow[name] + (1 - self.decay) * param.data


def early(path):
    model = nn.Linear(2, 2)
    ema_model = copy.deepcopy(model).eval()  # trap: average-never-updated
    model.load_state_dict(torch.load(path, map_location="cpu"))
    return model, ema_model


def late(path):
    model = nn.Linear(2, 2)
    model.load_state_dict(torch.load(path, map_location="cpu"))
    ema_model = copy.deepcopy(model).eval()
    return model, ema_model


def both(path):
    model = nn.Linear(2, 2)
    ema_model = copy.deepcopy(model)
    state = torch.load(path, map_location="cpu")
    model.load_state_dict(state["model"])
    ema_model.load_state_dict(state["ema"])
    return model, ema_model


def train(model, loader, loss):
    ema = ExponentialMovingAverage(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        loss(model(x), y).backward()
        optimizer.step()
        ema.step(model)
    return ema.shadow


class Agent:
    def __init__(self, online, target):
        self.online, self.target = online, target
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)

    def pull(self, local, slow, tau=0.01):
        for a, b in zip(slow.parameters(), local.parameters()):
            a.data.copy_(tau * b.data + (1 - tau) * a.data)

    def wrong(self):
        self.pull(self.target, self.online)  # trap: average-never-updated

    def right(self):
        self.pull(self.online, self.target)
