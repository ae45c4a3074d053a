import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        p = F.softmax(self.fc(x), dim=-1)
        p.data[:, 0] = 0  # trap: write-through-data
        h = torch.tanh(self.fc(x))
        h.data.mul_(0.5)  # trap: write-through-data
        r = F.relu(self.fc(x))
        r.data = r.data.clamp(max=6)  # trap: write-through-data
        shown = torch.sigmoid(self.fc(x)).data.mean()
        self.mean.data.mul_(0.9)
        return p + h + r, shown

    def reset(self):
        self.fc.weight.data.zero_()
        self.fc.bias.data.fill_(0.1)
        with torch.no_grad():
            s = torch.sigmoid(self.fc(self.mean))
            s.data.zero_()
        return s


def unknown(x):
    x.data.zero_()


def picked(block: Block, x, chosen):
    p = F.softmax(block.fc(x), dim=-1)
    p = p.gather(1, chosen).squeeze(1)
    p.data.clamp_(0.01, 0.99)
    return p.log().mean()
