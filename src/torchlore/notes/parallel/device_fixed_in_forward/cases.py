import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 4)
        self.register_buffer("scale", torch.ones(1))

    def forward(self, x):
        places = torch.arange(x.shape[1]).cuda()  # trap: device-fixed-in-forward
        start = torch.zeros(4).to("cuda:0")  # trap: device-fixed-in-forward
        mask = torch.ones(x.shape[1], device=torch.device("cuda"))  # trap: device-fixed-in-forward
        return self.table(places) + start + mask[:, None]


class Fine(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.device = device
        self.fc = nn.Linear(4, 4).cuda()

    def forward(self, x):
        a = torch.zeros(4, device=x.device)
        b = torch.arange(4).to(x)
        c = torch.zeros(4, device=self.device)
        d = x.new_zeros(4)
        if x.is_cuda:
            d = d.cuda()
        e = torch.zeros(4, device="cpu").to(x.device)
        with torch.autocast("cuda"):
            return self.fc(x) + a + b + c + d + e


def forward(x):
    return x.cuda()


class Trainer:
    def forward(self, x):
        return self.model(x.cuda())
