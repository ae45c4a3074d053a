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
