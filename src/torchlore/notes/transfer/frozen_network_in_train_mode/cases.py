import torch
from torch import nn
from torch.nn import functional as F


def make(width):
    return nn.Sequential(nn.Linear(4, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, 3))


class Distiller:
    def __init__(self, weights):
        self.teacher = make(64)
        self.teacher.load_state_dict(weights)
        for p in self.teacher.parameters():
            p.requires_grad_(False)
        self.judge = make(32)
        self.judge.requires_grad_(False)
        self.judge.eval()
        self.plain = nn.Linear(4, 3)
        self.plain.requires_grad_(False)
        self.student = make(8)
        self.optimizer = torch.optim.Adam(self.student.parameters())

    def step(self, x):
        with torch.no_grad():
            soft = self.teacher(x).softmax(1)  # trap: frozen-network-in-train-mode
            soft = soft + self.judge(x).softmax(1) + self.plain(x)
        loss = F.kl_div(self.student(x).log_softmax(1), soft, reduction="batchmean")
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class Woken(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.guide = make(64)
        self.guide.load_state_dict(weights)
        self.guide.eval()  # trap: frozen-network-in-train-mode
        self.second = make(32).requires_grad_(False).eval()  # trap: frozen-network-in-train-mode
        self.hidden = [make(16).eval()]
        self.plain = nn.Linear(4, 3).eval()
        self.student = make(8)


class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.guide = make(64).eval()
        self.student = make(8)

    def train(self, mode=True):
        super().train(mode)
        self.guide.eval()
        return self


class Again(nn.Module):
    def __init__(self):
        super().__init__()
        self.expert = make(64).eval()
        self.student = make(8)


class Resting(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = make(64)
        self.body.eval()


def fit(weights, loader):
    woken, kept, again, resting = Woken(weights), Kept(), Again(), Resting()
    for x in loader:
        woken.train()
        kept.train()
        again.train()
        again.expert.eval()
        print(woken(x), kept(x), again(x), resting(x))


class Wrapped(nn.Module):
    def __init__(self, guide):
        super().__init__()
        self.guide = guide.eval()  # trap: frozen-network-in-train-mode
        self.pupil = nn.Linear(4, 2)

    def forward(self, x):
        with torch.no_grad():
            wanted = self.guide(x)
        return (self.pupil(x) - wanted).pow(2).mean()


def taught_in_one(loader):
    both = Wrapped(nn.Sequential(nn.Linear(4, 2), nn.Dropout(0.5)))
    opt = torch.optim.SGD(both.pupil.parameters(), lr=0.1)
    both.train()
    for x in loader:
        opt.zero_grad()
        both(x).backward()
        opt.step()
