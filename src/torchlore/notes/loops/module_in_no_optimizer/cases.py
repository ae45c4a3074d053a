import torch
from torch import nn


class Weights(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_vars = nn.Parameter(torch.zeros(2))

    def forward(self, first, second):
        return (torch.exp(-self.log_vars) * torch.stack([first, second]) + self.log_vars).sum()


def bad(model, loader, device):
    weigh = Weights().to(device)
    weigh.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)  # trap: module-in-no-optimizer
    for x, a, b in loader:
        one, two = model(x)
        loss = weigh((one - a).pow(2).mean(), (two - b).pow(2).mean())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def given(model, loader):
    weigh = Weights()
    optimizer = torch.optim.Adam([*model.parameters(), *weigh.parameters()], lr=1e-3)
    for x, a, b in loader:
        one, two = model(x)
        loss = weigh((one - a).pow(2).mean(), (two - b).pow(2).mean())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def held(model, loader):
    weigh = Weights()
    both = nn.ModuleList([model, weigh])
    optimizer = torch.optim.Adam(both.parameters(), lr=1e-3)
    for x, a, b in loader:
        one, two = model(x)
        loss = weigh((one - a).pow(2).mean(), (two - b).pow(2).mean())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def frozen(model, loader):
    weigh = Weights()
    weigh.requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for x, a, b in loader:
        one, two = model(x)
        loss = weigh((one - a).pow(2).mean(), (two - b).pow(2).mean())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def shown_only(model, loader):
    weigh = Weights()
    print(weigh(torch.ones(()), torch.ones(())))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for x, a in loader:
        optimizer.zero_grad()
        (model(x) - a).pow(2).mean().backward()
        optimizer.step()


def random_target(model, loader):
    target = Weights()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for x, a, b in loader:
        with torch.no_grad():
            wanted = target(a, b)
        loss = (model(x) - wanted).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Pair:
    def __init__(self):
        self.actor = nn.Linear(4, 2)
        self.critic = nn.Linear(6, 1)
        self.actor_optim = torch.optim.Adam(self.critic.parameters())  # trap: module-in-no-optimizer
        self.critic_optim = torch.optim.Adam(self.critic.parameters())

    def step(self, x):
        loss = -self.critic(torch.cat([x, self.actor(x)], 1)).mean()
        self.actor_optim.zero_grad()
        loss.backward()
        self.actor_optim.step()


class Slow:  # two rates for one network, on purpose
    def __init__(self):
        self.net = nn.Linear(4, 2)
        self.fast = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.slow = torch.optim.SGD(self.net.parameters(), lr=0.01)

    def step(self, x):
        self.net(x).mean().backward()
        self.fast.step()


def groups(model, lr):
    found = []
    params = {"lr": lr}
    params["params"] = [p for n, p in model.named_parameters() if "body" in n]
    found.append(params)
    params = {"lr": 10 * lr}
    params["params"] = [p for n, p in model.named_parameters() if "head" in n]  # trap: module-in-no-optimizer
    return torch.optim.AdamW(found)


class Distance(nn.Module):
    def __init__(self, mode):
        super().__init__()
        self.register_buffer("real", torch.tensor(1.0))
        self.loss = nn.MSELoss() if mode == "square" else mode

    def forward(self, x):
        return self.loss(x, self.real.expand_as(x))


def one_net_two_rates(net, loader, mode):
    measure = Distance(mode)
    slow, fast = None, None
    net = nn.Linear(2, 2)
    slow = torch.optim.Adam(net.parameters(), 1e-4)
    fast = torch.optim.Adam(net.parameters(), 1e-2)
    for x in loader:
        slow.zero_grad()
        fast.zero_grad()
        measure(net(x)).backward()
        slow.step()
        fast.step()


class Auto(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(4, 2), nn.Linear(2, 4)

    def forward(self, x):
        return self.decoder(self.encoder(x))


def half_trained(loader):
    auto = Auto()
    optimizer = torch.optim.Adam(auto.encoder.parameters())  # trap: module-in-no-optimizer
    for x in loader:
        optimizer.zero_grad()
        (auto(x) - x).pow(2).mean().backward()
        optimizer.step()


def both_halves(loader):
    pair = Auto()
    first, second = torch.optim.Adam(pair.encoder.parameters()), torch.optim.Adam(pair.decoder.parameters())
    for x in loader:
        first.zero_grad()
        second.zero_grad()
        (pair(x) - x).pow(2).mean().backward()
        first.step()
        second.step()


class Taught(nn.Module):
    def __init__(self, guide):
        super().__init__()
        self.guide, self.second, self.pupil = guide, nn.Linear(4, 4).eval(), nn.Linear(4, 4)
        self.second.eval()

    def forward(self, x):
        return self.pupil(x) - self.guide(x).detach() - self.second(x).detach()


def taught(loader, guide):
    lesson = Taught(guide)
    optimizer = torch.optim.Adam(lesson.pupil.parameters())
    for x in loader:
        optimizer.zero_grad()
        lesson(x).pow(2).mean().backward()
        optimizer.step()


def perceptual(loader, judge=nn.Linear(4, 4)):  # no network made here
    net = nn.Linear(4, 4)
    optimizer = torch.optim.Adam(net.parameters())
    for x in loader:
        optimizer.zero_grad()
        judge(net(x)).mean().backward()
        optimizer.step()
