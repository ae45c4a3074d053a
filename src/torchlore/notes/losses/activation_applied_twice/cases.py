import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=1))
        self.softmax = nn.Softmax(dim=1)
        self.gate = nn.Linear(4, 3)

    def forward(self, x):
        return self.body(x)

    def predict(self, x):
        return self.softmax(self.body(x))  # trap: activation-applied-twice

    def gated(self, x):
        weights = torch.softmax(self.gate(x), dim=1)
        return torch.sigmoid(self.gate(weights @ torch.eye(3, 4))) * weights


net = Net()


def evaluate(x):
    logits = net(x)
    probabilities = torch.softmax(logits, dim=1)  # trap: activation-applied-twice
    return probabilities.argmax(1), logits.log_softmax(1)  # trap: activation-applied-twice


def twice(x):
    scores = nn.Linear(4, 1)(x).sigmoid()
    return torch.sigmoid(scores)  # trap: activation-applied-twice


def sharpened(x):  # probabilities of several draws, averaged and scaled: other numbers
    probabilities = F.softmax(nn.Linear(4, 3)(x), dim=1)
    return F.softmax(probabilities * 10, dim=1)
