import torch
from torch import nn, optim


def step_in_a_helper(model, batches):
    optimizer = optim.Adam(model.parameters())

    def update(loss):
        loss.backward()
        optimizer.step()  # trap: missing-zero-grad

    for x, y in batches:
        update(nn.functional.mse_loss(model(x), y))


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = optim.SGD(model.parameters(), 0.1)

    def fit(self, loader):
        self.optimizer.zero_grad()  # trap: missing-zero-grad
        for x, y in loader:
            loss = nn.functional.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()

    def fit_well(self, loader):
        for x, y in loader:
            self.one(x, y)

    def one(self, x, y):
        self.model.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(self.model(x), y).backward()
        self.optimizer.step()


def only_one_of_two(g, d, loader):
    opt_g = optim.Adam(g.parameters())
    opt_d = optim.Adam(d.parameters())
    for z, real in loader:
        opt_d.zero_grad()
        (d(g(z).detach()).mean() - d(real).mean()).backward()  # trap: detach-after-frozen-forward
        opt_d.step()
        d.zero_grad()
        (-d(g(z)).mean()).backward()
        opt_g.step()


def forgotten_generator(g, d, loader):
    opt_g = optim.Adam(g.parameters())
    opt_d = optim.Adam(d.parameters())
    for z, real in loader:
        opt_d.zero_grad()
        (d(g(z).detach()).mean() - d(real).mean()).backward()  # trap: detach-after-frozen-forward
        opt_d.step()
        (-d(g(z)).mean()).backward()
        opt_g.step()  # trap: missing-zero-grad


def accumulated(model, loader, every=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        for i, (x, y) in enumerate(loader):
            (nn.functional.mse_loss(model(x), y) / every).backward()
            if (i + 1) % every == 0:
                optimizer.step()
                optimizer.zero_grad()


def by_hand(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        for p in model.parameters():
            p.grad = None
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


def several(model, loader):
    optimizers = [optim.SGD(part.parameters(), 0.1) for part in model.children()]
    for x, y in loader:
        for one in optimizers:
            one.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        for one in optimizers:
            one.step()


encoder, decoder = nn.Linear(4, 4), nn.Linear(4, 2)
one = optim.SGD(encoder.parameters(), lr=0.1)
two = optim.SGD(decoder.parameters(), lr=0.1)


def pair(x, y, first, second):
    first.zero_grad()
    first.zero_grad()  # trap: missing-zero-grad
    nn.functional.cross_entropy(decoder(encoder(x)), y).backward()
    first.step()
    second.step()


for _ in range(3):
    pair(torch.randn(8, 4), torch.zeros(8, dtype=torch.long), one, two)


def attacked(model, loader, eps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        delta = torch.zeros_like(x, requires_grad=True)
        optimizer.zero_grad()  # trap: missing-zero-grad
        for _ in range(5):
            nn.functional.cross_entropy(model(x + delta), y).backward()
            delta.data = (delta + eps * delta.grad.sign()).clamp(-eps, eps)
            delta.grad.zero_()
        nn.functional.cross_entropy(model(x + delta), y).backward()
        optimizer.step()


def attack(model, x, y, eps):
    x = x.clone().requires_grad_(True)
    nn.functional.cross_entropy(model(x), y).backward()
    return (x + eps * x.grad.sign()).detach()


def attacked_outside(model, loader, eps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()  # trap: missing-zero-grad
        adversarial = attack(model, x, y, eps)
        nn.functional.cross_entropy(model(adversarial), y).backward()
        optimizer.step()


def attacked_right(model, loader, eps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        adversarial = attack(model, x, y, eps)
        model.zero_grad()
        nn.functional.cross_entropy(model(adversarial), y).backward()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


def critic(loader, real, fake):
    optimizer = torch.optim.SGD(decoder.parameters(), lr=0.1)
    other = torch.optim.SGD(encoder.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        decoder(real(x)).mean().backward()
        optimizer.step()
        decoder(fake(x)).mean().backward()
        optimizer.step()  # trap: missing-zero-grad
        optimizer.zero_grad()
        decoder(x).pow(2).mean().backward()
        optimizer.step()
        other.zero_grad()
        decoder(encoder(x)).mean().backward()
        other.step()


def epochs(loader):
    optimizer = torch.optim.SGD(decoder.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()  # trap: missing-zero-grad
        for x in loader:
            decoder(x).pow(2).mean().backward()
            optimizer.step()


def on_the_log_interval(loader, optimizer: torch.optim.Optimizer):
    for i, x in enumerate(loader):
        decoder(x).pow(2).mean().backward()
        optimizer.step()
        if i % 10 == 0:
            print(i)
            optimizer.zero_grad()  # trap: missing-zero-grad


def only_one_of_two(loader):
    for x in loader:
        one.zero_grad()  # trap: missing-zero-grad
        decoder(encoder(x)).pow(2).mean().backward()
        for each in (one, two):
            each.step()


def both_of_two(loader):
    both = [one, two]
    for x in loader:
        for each in both:
            each.zero_grad()
        decoder(encoder(x)).pow(2).mean().backward()
        one.step()
        two.step()
