import torch
from torch import nn


class Added(nn.Module):
    def __init__(self, width, max_len=50):
        super().__init__()
        self.register_buffer("pe", torch.zeros(max_len, 1, width))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        x = x + self.pe[: x.shape[0], :]  # trap: positions-along-the-batch
        return self.dropout(x)


class Right(nn.Module):
    def __init__(self, width, max_len=50):
        super().__init__()
        self.register_buffer("pe", torch.zeros(1, max_len, width))

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]


class Turning(nn.Module):
    def __init__(self, width, max_len=50):
        super().__init__()
        self.register_buffer("pe", torch.zeros(max_len, 1, width))

    def forward(self, x):
        return x + self.pe[: x.size(0)]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.positions, self.right = Added(8), Right(8)
        self.layer = nn.TransformerEncoderLayer(8, 2, batch_first=True)

    def forward(self, x):
        return self.layer(self.right(self.positions(x)))


class Swapping(nn.Module):
    def __init__(self):
        super().__init__()
        self.positions = Turning(8)
        self.layer = nn.TransformerEncoderLayer(8, 2, batch_first=True)

    def forward(self, x):
        x = self.positions(x.transpose(0, 1)).transpose(0, 1)
        return self.layer(x)
