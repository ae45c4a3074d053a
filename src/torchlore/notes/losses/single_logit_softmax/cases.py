import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 1)

    def forward(self, x):
        return F.softmax(self.fc(x), dim=1)  # trap: single-logit-softmax


body = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1), nn.Softmax(dim=1))  # trap: single-logit-softmax
critic = nn.Linear(4, 1)
x = torch.randn(5, 4)
loss = nn.CrossEntropyLoss()(critic(x), torch.zeros(5, dtype=torch.long))  # trap: single-logit-softmax

scores = nn.Linear(8, 1)
words = torch.randn(2, 7, 8)
attention = torch.softmax(scores(words), dim=1)  # over the seven words
pair = nn.Sequential(nn.Linear(8, 2), nn.Softmax(dim=1))
weights = torch.softmax(critic(x), dim=0)
chance = torch.sigmoid(critic(x))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(8, 1)

    def forward(self, steps):
        e = self.score(torch.tanh(steps))
        return torch.bmm(F.softmax(e, dim=1).permute(0, 2, 1), steps)


class Risk(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


labels = (x[:, 0] > 0).float()
row = nn.CrossEntropyLoss()(Risk()(x), labels)  # trap: single-logit-softmax
right = nn.BCEWithLogitsLoss()(Risk()(x), labels)


class Pooled(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.score = nn.Linear(d, 1)

    def forward(self, steps):
        weights = torch.softmax(self.score(steps), dim=2)  # trap: single-logit-softmax
        return (weights * steps).sum(1)

    def over_the_steps(self, steps):
        weights = torch.softmax(self.score(steps), dim=1)
        return (weights * steps).sum(1)
