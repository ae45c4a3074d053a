import copy

import torch
from torch import nn


def fit(model, loader, opt):
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        opt.step()


def validate(model, loader):
    model.eval()
    with torch.no_grad():
        return sum(model(x).sum().item() for x, _ in loader)


def validate_and_restore(model, loader):
    was = model.training
    model.eval()
    with torch.no_grad():
        total = sum(model(x).sum().item() for x, _ in loader)
    model.train(was)
    return total


def left(loader):
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    opt = torch.optim.SGD(model.parameters(), 0.1)
    model.train()  # trap: train-mode-not-restored
    for epoch in range(3):
        fit(model, loader, opt)
        validate(model, loader)


def kept(loader):
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(3):
        fit(model, loader, opt)
        validate_and_restore(model, loader)


def teacher_only(loader):
    student = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    teacher = copy.deepcopy(student)
    opt = torch.optim.SGD(student.parameters(), 0.1)
    for x, _ in loader:
        teacher.eval()
        with torch.no_grad():
            wanted = teacher(x)
        opt.zero_grad()
        nn.functional.mse_loss(student(x), wanted).backward()
        opt.step()


def at_the_end(loader):
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(3):
        fit(model, loader, opt)
        if epoch == 2:
            model.eval()
            return model
    return model


def gradients_of(model, x):
    model.eval()
    model(x).sum().backward()
    return [p.grad for p in model.parameters()]


def compared(loader, acts):
    for act in acts:
        model = nn.Sequential(nn.Linear(2, 2), act, nn.Dropout())
        opt = torch.optim.SGD(model.parameters(), 0.1)
        gradients_of(model, torch.ones(1, 2))
        model.eval()
        fit(model, loader, opt)


def without_dropout(model, loader, opt):
    model.eval()
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        opt.step()


def trains_in_evaluation_mode(loader):
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(3):
        without_dropout(model, loader, opt)
        model.eval()
        with torch.no_grad():
            print(sum(model(x).sum() for x, _ in loader))


def within_an_epoch(loader):
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(3):
        model.train()
        for i, (x, y) in enumerate(loader):
            opt.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            opt.step()
            if i % 10 == 0:
                model.eval()  # trap: train-mode-not-restored
                print(model(x).sum().item())


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 2), nn.Dropout())

    def forward(self, x):
        return self.layers(x)


def ready():
    small = Small()
    small.eval()
    return small


def tune(small, loader):
    opt = torch.optim.SGD(small.parameters(), 0.1)
    for epoch in range(3):  # trap: train-mode-not-restored
        for x, y in loader:
            opt.zero_grad()
            nn.functional.cross_entropy(small(x), y).backward()
            opt.step()


tune(ready(), [(torch.randn(4, 2), torch.randint(2, (4,)))])


def one_net_a_seed(seeds, kind, build, train_batches, test_batches):
    for seed in seeds:
        torch.manual_seed(seed)
        if kind == "small":
            net = build(seed)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for x, y in train_batches:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
        with torch.no_grad():
            net.eval()
            print(sum((net(x).argmax(1) == y).sum() for x, y in test_batches))


def probe(net, train_batches, test_batches):
    model = nn.Sequential(net, nn.Dropout(0.1), nn.BatchNorm1d(8), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model[3].parameters(), lr=0.1)
    head = torch.optim.SGD(model.last.parameters(), lr=0.1)
    for _ in range(3):
        model.eval()
        for x, y in train_batches:
            optimizer.zero_grad()
            head.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            head.step()
        model.eval()
        with torch.no_grad():
            print(sum((model(x).argmax(1) == y).sum() for x, y in test_batches))
