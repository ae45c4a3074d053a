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


def by_hand(z1, z2, temperature):
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    powers = torch.exp(torch.mm(z, z.t().contiguous()) / temperature)
    positive = torch.exp((z1 * z2).sum(dim=1) / temperature).repeat(2)
    return -torch.log(positive / powers.sum(dim=-1)).mean()  # trap: similarity-with-itself


def by_cosine(z, labels, temperature):
    scores = F.cosine_similarity(z.unsqueeze(1), z.unsqueeze(0), dim=2) / temperature
    rest = torch.logsumexp(scores, dim=1)  # trap: similarity-with-itself
    return (rest - scores[torch.arange(len(z)), labels]).mean()


def less_itself(z, positive, temperature):
    powers = torch.exp(z @ z.T / temperature)
    return -torch.log(positive / (powers.sum(dim=1) - torch.exp(1 / temperature))).mean()


def relations(keys, teacher, temperature):
    student = F.log_softmax(keys @ keys.t() / temperature, dim=-1)
    return -(teacher.softmax(dim=-1) * student).sum(dim=-1).mean()


def attention(z):
    weights = torch.exp(z @ z.t())
    return (weights / weights.sum(dim=1, keepdim=True)) @ z
