import lightning
import timm
import torch
from torch import nn
from torchvision import models


def head_only(loader, criterion):
    model = models.resnet18(weights="DEFAULT")
    for param in model.parameters():
        param.requires_grad = False
    model.fc = nn.Linear(model.fc.in_features, 10)
    optimizer = torch.optim.SGD(model.fc.parameters(), lr=0.1)
    for epoch in range(3):
        model.train()  # trap: frozen-batchnorm-still-updates
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()


def whole(loader, criterion):
    net = models.mobilenet_v2(weights="DEFAULT")
    net.requires_grad_(False)
    net.classifier[1] = nn.Linear(1280, 2)
    optimizer = torch.optim.Adam(net.classifier.parameters())
    net.train()  # trap: frozen-batchnorm-still-updates
    for x, y in loader:
        optimizer.zero_grad()
        criterion(net(x), y).backward()
        optimizer.step()


def layers(loader, criterion):
    body = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))
    body.requires_grad_(False)
    head = nn.Linear(8, 2)
    optimizer = torch.optim.Adam(head.parameters())
    body.train()  # trap: frozen-batchnorm-still-updates
    for x, y in loader:
        optimizer.zero_grad()
        criterion(head(body(x).mean((2, 3))), y).backward()
        optimizer.step()


def no_batchnorm(loader, criterion):
    model = models.vgg16(weights="DEFAULT")
    model.features.requires_grad_(False)
    optimizer = torch.optim.Adam(model.classifier.parameters())
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()


def put_back(loader, criterion):
    model = models.resnet18(weights="DEFAULT")
    model.requires_grad_(False)
    model.fc = nn.Linear(512, 10)
    optimizer = torch.optim.SGD(model.fc.parameters(), lr=0.1)
    model.train()
    model.bn1.eval()
    model.layer1.eval()
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()


def thawed(loader, criterion, freeze):
    model = models.resnet18(weights="DEFAULT")
    if freeze:
        model.requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()


def in_the_mode_it_was_made_in(loader, criterion):
    model = models.resnet18(weights="DEFAULT")
    model.requires_grad_(False)  # trap: frozen-batchnorm-still-updates
    model.fc = nn.Linear(512, 10)
    optimizer = torch.optim.SGD(model.fc.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    model.train()


class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))
        for p in self.body.parameters():
            p.requires_grad = False
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


def in_a_class(loader, criterion):
    net = Frozen()
    optimizer = torch.optim.Adam(net.head.parameters())
    for epoch in range(3):
        net.train()  # trap: frozen-batchnorm-still-updates
        for x, y in loader:
            optimizer.zero_grad()
            criterion(net(x), y).backward()
            optimizer.step()


class Extractor(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = timm.create_model("resnet34", pretrained=True, num_classes=0)
        for p in self.body.parameters():
            p.requires_grad = False  # trap: frozen-batchnorm-still-updates
        self.head = nn.Linear(512, 2)

    def training_step(self, batch):
        return nn.functional.cross_entropy(self.head(self.body(batch[0])), batch[1])


class Switched(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = models.resnet18(weights="DEFAULT").requires_grad_(False)
        self.head = nn.Linear(1000, 2)

    def on_train_epoch_start(self):
        self.body.eval()

    def training_step(self, batch):
        return nn.functional.cross_entropy(self.head(self.body(batch[0])), batch[1])


def in_a_class_put_back(loader, criterion):
    net = Frozen()
    optimizer = torch.optim.Adam(net.head.parameters())
    for epoch in range(3):
        net.train()
        net.body.eval()
        for x, y in loader:
            optimizer.zero_grad()
            criterion(net(x), y).backward()
            optimizer.step()


class Tuned(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body, self.top = body, nn.Linear(4, 2)
        for p in self.body.parameters():
            p.requires_grad = False

    def forward(self, x):
        return self.top(self.body(x))


def tune(loader):
    body = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    tuned = Tuned(body)
    opt = torch.optim.SGD(tuned.top.parameters(), 0.1)
    tuned.train()  # trap: frozen-batchnorm-still-updates
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(tuned(x), y).backward()
        opt.step()


class Cut(nn.Module):
    def __init__(self):
        super().__init__()
        base = models.resnet18(weights="DEFAULT")
        self.body, self.top = nn.Sequential(*list(base.children())[:-1]), nn.Linear(512, 2)
        for p in self.body.parameters():
            p.requires_grad = False

    def forward(self, x):
        return self.top(self.body(x).flatten(1))


def tune_cut(loader, opt):
    cut = Cut()
    cut.train(opt is not None)  # trap: frozen-batchnorm-still-updates
    for x, y in loader:
        nn.functional.cross_entropy(cut(x), y).backward()
        opt.step()
        opt.zero_grad()
