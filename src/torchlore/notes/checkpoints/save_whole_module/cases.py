import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)


class Trainer:
    def __init__(self):
        self.model = Net()

    def save(self, path, epoch):
        torch.save(self.model, path)  # trap: save-whole-module
        torch.save({"epoch": epoch, "model": self.model}, path)  # trap: save-whole-module
        torch.save({"epoch": epoch, "model": self.model.state_dict()}, path)


def build():
    return nn.Sequential(nn.Linear(2, 2), nn.ReLU())


def save_all(path, net: nn.Module):
    model = build().eval()
    torch.save(model, path)  # trap: save-whole-module
    torch.save(net.fc, path)  # trap: save-whole-module
    torch.save(net.meta, path)
    state = {"net": net}
    torch.save(state, path)  # trap: save-whole-module


def clean(path, model, x):
    net = Net()
    torch.save(net.state_dict(), path)
    torch.save(net.fc.weight, path)
    torch.save(model, path)  # whatever it is
    torch.save(net(x), path)
    scripted = torch.jit.script(net)
    torch.jit.save(scripted, path)
    torch.save({"args": [1, 2], "weights": {k: v for k, v in net.state_dict().items()}}, path)
