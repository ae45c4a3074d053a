import torch
from torch import nn


class Wrong(nn.Module):
    def __init__(self, size, pad):
        super().__init__()
        self.emb = nn.Embedding(size, 8, padding_idx=pad)
        self.init_weights()

    def init_weights(self):
        nn.init.normal_(self.emb.weight, std=0.02)  # trap: padding-row-overwritten


class Right(nn.Module):
    def __init__(self, size, pad):
        super().__init__()
        self.emb = nn.Embedding(size, 8, padding_idx=pad)
        self.free = nn.Embedding(size, 8)
        nn.init.normal_(self.free.weight)
        nn.init.normal_(self.emb.weight, std=0.02)
        with torch.no_grad():
            self.emb.weight[pad].fill_(0)


class Zeros(nn.Module):
    def __init__(self, size, pad):
        super().__init__()
        self.shift = nn.Embedding(size, 1, padding_idx=pad)
        nn.init.constant_(self.shift.weight, 0)
