import torch
from torch import nn
from torch.nn import functional as F


def nt_xent(z1, z2, temperature=0.5):
    n = z1.size(0)
    z = F.normalize(torch.cat([z1, z2], dim=0), dim=1)
    sim = torch.mm(z, z.t()) / temperature
    target = torch.cat([torch.arange(n) + n, torch.arange(n)])
    return F.cross_entropy(sim, target)  # trap: similarity-with-itself


class Loss(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.temperature, self.criterion = temperature, nn.CrossEntropyLoss()

    def forward(self, z, target):
        logits = torch.matmul(z, z.T) / self.temperature
        return self.criterion(logits, target)  # trap: similarity-with-itself

    def masked(self, z, target):
        logits = torch.matmul(z, z.T) / self.temperature
        logits.fill_diagonal_(-1e4)
        return self.criterion(logits, target)

    def two_sets(self, images, texts):
        logits = images @ texts.T / self.temperature
        return self.criterion(logits, torch.arange(len(images)))
