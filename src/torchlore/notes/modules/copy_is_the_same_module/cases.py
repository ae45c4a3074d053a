"""Other spellings of copy-is-the-same-module, and code that only looks like it."""
import copy

import torch
from torch import nn


class Agent:
    def __init__(self):
        self.q = nn.Linear(4, 2)
        self.q_target = self.q  # trap: copy-is-the-same-module
        self.optimizer = torch.optim.Adam(self.q.parameters())

    def learn(self, x):
        loss = (self.q(x) - self.q_target(x).detach()).pow(2).mean()
        loss.backward()
        self.optimizer.step()


def distill(x):
    student = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    teacher = copy.copy(student)  # trap: copy-is-the-same-module
    (student(x) - teacher(x)).sum().backward()
    best_model = None
    for epoch in range(3):
        best_model = student  # trap: copy-is-the-same-module
        student(x).sum().backward()
    return best_model


class Dqn:
    def __init__(self, device):
        model = nn.Linear(4, 2)
        self.policy_net = model.to(device)
        self.target_net = model.to(device)  # trap: copy-is-the-same-module
        self.optimizer = torch.optim.Adam(self.policy_net.parameters())
        print(model)

    def step(self, x):
        (self.policy_net(x) - self.target_net(x)).sum().backward()
        self.optimizer.step()


# clean
def fine(x):
    model = nn.Linear(4, 4)
    ema = copy.deepcopy(model)
    target = nn.Linear(4, 4)
    target.load_state_dict(model.state_dict())
    net = model
    net(x).sum().backward()
    best_loss = x
    old_rate = 0.1
    return ema, target, best_loss, old_rate


def evaluate(model: nn.Module):
    ref = model
    return ref


def part_of_a_copy(build, x, model):
    model_copy = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    model_copy.blocks = nn.Linear(4, 4)
    model_copy = model_copy.blocks
    (model(x) - model_copy(x)).sum().backward()
    return model_copy, build.blocks


class Twice(nn.Module):
    def __init__(self, n, width):
        super().__init__()
        layers = [nn.Linear(width, width) for _ in range(n)]
        self.encoder = nn.ModuleList(layers)
        self.decoder = nn.ModuleList(layers)  # trap: copy-is-the-same-module
        body = [nn.Linear(width, width), nn.ReLU()]
        self.body = nn.Sequential(*body)
        body = [nn.Linear(width, width), nn.ReLU()]
        self.head = nn.Sequential(*body)


def at_the_end(loader, criterion):
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    best_model = model
    return best_model(x), model(x)


def grow(model, optimizer, extra):  # the old head is taken out, not kept beside
    old = model.fc
    new = nn.Linear(old.in_features, old.out_features + extra)
    new.weight.data[: old.out_features] = old.weight.data
    model.fc = new
    optimizer.step()


class WithOrWithoutTarget:
    def __init__(self, critic: nn.Module, lagged, make):
        self.critic = critic
        self.optimizer = torch.optim.Adam(critic.parameters())
        if lagged:
            self.critic_old = make(self.critic)
        else:
            self.critic_old = self.critic

    def learn(self, x, gamma):
        loss = (self.critic(x) - gamma * self.critic_old(x).detach()).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class Learner:
    def __init__(self, model: nn.Module, device):
        self.net = model.to(device)
        self.target = model.to(device)  # trap: copy-is-the-same-module
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def learn(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.net(x), y + self.target(x).detach())
        loss.backward()
        self.optimizer.step()


class Watched:
    def __init__(self, model: nn.Module, second: nn.Module, device):
        self.net = model.to(device)
        self.target = second.to(device)

    def learn(self, x, y):
        return nn.functional.mse_loss(self.net(x), y + self.target(x).detach())


def fit(model, x, y):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    return model


def against_a_rival(x, y):
    net = nn.Linear(4, 1)
    rival = copy.copy(net)  # trap: copy-is-the-same-module
    other = copy.deepcopy(net)
    view = copy.copy(net)
    view.training = False
    return fit(rival, x, y)(x) - net(x) + fit(other, x, y)(x) + view(x)
