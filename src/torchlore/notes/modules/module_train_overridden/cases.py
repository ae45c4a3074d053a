from torch import nn


class Trains(nn.Module):
    def train(self, loader, optimizer):  # trap: module-train-overridden
        for x, y in loader:
            optimizer.zero_grad()
            (self(x) - y).pow(2).mean().backward()
            optimizer.step()


class Tests(nn.Module):
    def eval(self, x):  # trap: module-train-overridden
        return self(x).argmax(1)


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 2)

    def train(self, data):  # trap: module-train-overridden
        self.net.train()
        return self.net(data)


class FrozenPart(nn.Module):
    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self


class Flags(nn.Module):
    def train(self, mode=True):
        self.training = mode
        return self


class Parts(nn.Module):
    def train(self):
        self.net.train()

    def eval(self):
        self.net.eval()


class Trainer:
    def train(self, loader):
        return len(loader)
