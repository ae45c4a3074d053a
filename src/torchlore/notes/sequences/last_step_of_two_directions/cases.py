import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 4, bidirectional=True)
        self.one = nn.GRU(3, 4, batch_first=True)
        self.both = nn.GRU(3, 4, batch_first=True, bidirectional=True)

    def wrong(self, x):
        out, _ = self.gru(x)
        return out[-1]  # trap: last-step-of-two-directions

    def backward_alone(self, x):
        _, h = self.both(x)
        return h[-1]  # trap: last-step-of-two-directions

    def right(self, x):
        out, h = self.both(x)
        ends = torch.cat((out[:, -1, :4], out[:, 0, 4:]), dim=1)
        return torch.cat((h[-2], h[-1]), dim=1), ends, out.mean(1)

    def forward_only(self, x):
        out, h = self.one(x)
        return out[:, -1], h[-1]
