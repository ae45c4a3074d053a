import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, log):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return torch.softmax(self.fc(x), dim=1)  # trap: nll-on-probabilities


class Logs(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 3), nn.LogSoftmax(dim=1))

    def forward(self, x):
        return self.body(x)


criterion = nn.NLLLoss()


def bad(x, y):
    a = criterion(Net(True)(x), y)
    b = F.nll_loss(nn.Linear(4, 3)(x), y)  # trap: nll-on-probabilities
    c = criterion(torch.sigmoid(x), y)  # trap: nll-on-probabilities
    return a + b + c


def fine(x, y, model):
    a = criterion(Logs()(x), y)
    b = F.nll_loss(F.log_softmax(x, dim=1), y)
    c = criterion(model(x), y)
    d = F.nll_loss(x, y)
    return a + b + c + d
