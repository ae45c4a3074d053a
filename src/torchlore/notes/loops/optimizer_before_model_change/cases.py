import torch
import torchvision
from torch import nn


def new_head(classes):
    net = torchvision.models.resnet18(weights=None)
    for p in net.parameters():
        p.requires_grad = False
    opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-3)  # trap: optimizer-before-model-change
    net.fc = nn.Linear(net.fc.in_features, classes)
    return net, opt


def head_swapped_by_a_helper(classes):
    net = torchvision.models.vgg11(weights=None)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)  # trap: optimizer-before-model-change
    adapt(net, classes)
    return opt


def adapt(model, classes):
    model.classifier[6] = nn.Linear(4096, classes)


def right_order(classes):
    net = torchvision.models.resnet18(weights=None)
    net.fc = nn.Linear(512, classes)
    return torch.optim.Adam(net.parameters())


def built_again(classes):
    net = torchvision.models.resnet18(weights=None)
    opt = torch.optim.Adam(net.parameters())
    net.fc = nn.Linear(512, classes)
    opt = torch.optim.Adam(net.parameters())
    return opt


def head_cut_off():
    net = torchvision.models.resnet18(weights=None)
    opt = torch.optim.Adam(net.parameters())
    net.fc = nn.Identity()
    return opt


def another_model(classes):
    student = torchvision.models.resnet18(weights=None)
    teacher = torchvision.models.resnet50(weights=None)
    opt = torch.optim.Adam(student.parameters())
    teacher.fc = nn.Linear(2048, classes)
    return opt


def set_free(module, flag):
    for parameter in module.parameters():
        parameter.requires_grad = flag


def thaw(loader):
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    set_free(net[0], False)
    optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, net.parameters()))
    for epoch in range(4):
        if epoch == 2:
            set_free(net[0], True)  # trap: optimizer-before-model-change
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()


def thaw_what_it_holds(loader):
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    set_free(net[0], False)
    optimizer = torch.optim.Adam(net.parameters())
    for epoch in range(4):
        if epoch == 2:
            set_free(net[0], True)
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()


def two_experiments(fit):
    model = torchvision.models.resnet18(weights=None)
    fit(model, torch.optim.Adam(model.parameters()))
    model = torchvision.models.resnet18(weights=None).to("cpu")
    model.fc = nn.Linear(512, 3)
    return model


def resumed(loader, path):
    model = torchvision.models.resnet18(weights=None)
    optimizer = torch.optim.Adam(model.parameters())
    if path:
        model = torchvision.models.resnet18(weights=None)  # trap: optimizer-before-model-change
        model.load_state_dict(torch.load(path, map_location="cpu"))
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


def loaded_whole(loader, path):
    model = torchvision.models.resnet18(weights=None)
    optimizer = torch.optim.Adam(model.parameters())  # trap: optimizer-before-model-change
    model = torch.load(path, map_location="cpu")
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


def wrapped(loader, wrap):
    model = torchvision.models.resnet18(weights=None)
    optimizer = torch.optim.Adam(model.parameters())
    model = nn.DataParallel(model)
    model = wrap(model)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


def one_after_the_other(loader):
    model = torchvision.models.resnet18(weights=None)
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    model = torchvision.models.resnet18(weights=None)
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.optimizer = torch.optim.Adam(self.parameters())  # trap: optimizer-before-model-change
        self.head = nn.Linear(4, 2)


class Last(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.optimizer = torch.optim.Adam(self.parameters())
        self.loss, self.active = nn.MSELoss(), nn.ReLU()
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 10)


def tested_at_the_end(loader, path):
    model = torchvision.models.resnet18(num_classes=10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    model.fc = nn.Linear(512, 10)
    model.load_state_dict(torch.load(path, map_location="cpu"))
    return model.eval()


def best_one_tested(loader, path):
    model = torchvision.models.resnet18(num_classes=10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    model = torch.load(path, map_location="cpu")
    return [model(x).argmax(1) for x, _ in loader], [model(x) for x, _ in loader]


def read_back(loader):
    model = torchvision.models.resnet18(num_classes=10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def run():
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()

    run()
    model = torchvision.models.resnet18(weights="DEFAULT")
    return model.eval()
