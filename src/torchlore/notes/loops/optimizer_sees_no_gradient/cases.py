import copy

import torch
from torch import nn, optim


class Agent:
    def __init__(self):
        self.online, self.gamma = None, 0.9
        self.policy = nn.Linear(4, 2)
        self.target = nn.Linear(4, 2)
        self.target.load_state_dict(self.policy.state_dict())
        self.optimizer = optim.Adam(self.target.parameters())  # trap: optimizer-sees-no-gradient

    def learn(self, state, action, reward, following):
        value = self.policy(state).gather(1, action)
        wanted = reward + self.gamma * self.target(following).max(1, keepdim=True)[0].detach()
        loss = nn.functional.mse_loss(value, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class Right:
    def __init__(self):
        self.policy, self.critic = nn.Linear(4, 2), nn.Linear(4, 1)
        self.optimizer = optim.Adam(self.policy.parameters())
        self.other = optim.Adam(self.critic.parameters())

    def learn(self, state, advantage):
        loss = -(self.policy(state).log_softmax(1)[:, 0] * advantage).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        loss = self.critic(state).pow(2).mean()
        self.other.zero_grad()
        loss.backward()
        self.other.step()


def wrapped(loader):
    backbone = nn.Linear(4, 4)
    net = nn.Sequential(backbone, nn.ReLU())
    optimizer = optim.SGD(backbone.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()


def copied(loader):
    net = nn.Linear(4, 4)
    ema = copy.deepcopy(net)
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        with torch.no_grad():
            wanted = ema(x)
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), wanted).backward()
        optimizer.step()


def by_method(loader, score):
    net, other = nn.Linear(4, 4), nn.Linear(4, 4)
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        (score(net, x) + other(x)).mean().backward()
        optimizer.step()


class Pair:
    def __init__(self):
        self.generator, self.judge = nn.Linear(4, 2), nn.Linear(2, 1)
        self.first = optim.Adam(self.generator.parameters())
        self.second = optim.Adam(self.judge.parameters())

    def step(self, real, noise):
        fake = self.generator(noise)
        loss = self.judge(fake.detach()).mean() - self.judge(real).mean()
        self.second.zero_grad()
        loss.backward()
        self.second.step()
        with torch.no_grad():
            fake = self.generator(noise)  # trap: optimizer-sees-no-gradient
        loss = -self.judge(fake).mean()
        self.first.zero_grad()
        loss.backward()
        self.first.step()

    def step_well(self, real, noise, score):
        with torch.no_grad():
            fake = self.generator(noise)
        loss = self.judge(fake).mean() - self.judge(real).mean()
        self.second.zero_grad()
        loss.backward()
        self.second.step()
        self.first.zero_grad()
        score(self.generator, noise).backward()
        (-self.judge(self.generator(noise)).mean()).backward()
        self.first.step()


def put_together(loader):
    body, head = nn.Linear(4, 4), nn.Linear(4, 1)
    parts = nn.ModuleDict({"body": body, "head": head})
    optimizer = optim.SGD(parts.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        head(body(x)).mean().backward()
        optimizer.step()
