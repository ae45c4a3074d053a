import torch
import torch.nn.functional as F
from torch import nn


class NTXent(nn.Module):
    def __init__(self, temperature=0.5):
        super().__init__()
        self.temperature = temperature

    def forward(self, z1, z2):
        sim = torch.matmul(z1, z2.t())
        logits = sim * self.temperature  # trap: temperature-the-wrong-way
        return F.cross_entropy(logits, torch.arange(len(z1)))

    def right(self, z1, z2):
        return F.cross_entropy(z1 @ z2.t() / self.temperature, torch.arange(len(z1)))


def without_square(student, teacher, labels, T, alpha):
    soft = F.kl_div(F.log_softmax(student / T, dim=1), F.softmax(teacher / T, dim=1), reduction="batchmean")  # trap: temperature-the-wrong-way
    return alpha * soft + (1 - alpha) * F.cross_entropy(student, labels)


def one_side(student, teacher, T):
    return F.kl_div(F.log_softmax(student / T, dim=1), F.softmax(teacher, dim=1), reduction="batchmean") * T * T  # trap: temperature-the-wrong-way


def other_side(student, teacher, T):
    return F.kl_div(F.log_softmax(student, dim=1), F.softmax(teacher / T, dim=1), reduction="batchmean") * T * T  # trap: temperature-the-wrong-way


def squared(student, teacher, labels, T, alpha):
    soft = F.kl_div(F.log_softmax(student / T, dim=1), F.softmax(teacher / T, dim=1), reduction="batchmean")
    return alpha * T**2 * soft + (1 - alpha) * F.cross_entropy(student, labels)


def squared_at_once(student, teacher, T):
    log_p = F.log_softmax(student / T, dim=1)
    q = F.softmax(teacher / T, dim=1).detach()
    return F.kl_div(log_p, q, reduction="batchmean") * (T * T)


def no_temperature(student, teacher):
    return F.kl_div(F.log_softmax(student, dim=1), F.softmax(teacher, dim=1), reduction="batchmean")


def sharpened(logits, weak_logits, T):
    pseudo = torch.softmax(weak_logits.detach() / T, dim=-1)
    return F.kl_div(F.log_softmax(logits, dim=-1), pseudo, reduction="batchmean")


def half(query, key, bank, tau=0.1):
    positive = (query * key).sum(1, keepdim=True)
    negative = query @ bank.t()
    logits = torch.cat([positive, negative / tau], dim=1)  # trap: temperature-the-wrong-way
    return F.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long))


def other_half(query, key, bank, temperature):
    pos = torch.einsum("nc,nc->n", query, key).unsqueeze(-1) / temperature
    neg = torch.einsum("nc,ck->nk", query, bank)
    return F.cross_entropy(torch.cat((pos, neg), 1), torch.zeros(len(pos), dtype=torch.long))  # trap: temperature-the-wrong-way


def whole(query, key, bank, tau=0.1):
    logits = torch.cat([(query * key).sum(1, keepdim=True), query @ bank.t()], dim=1)
    logits /= tau
    both = torch.cat([(query * key).sum(1, keepdim=True) / tau, query @ bank.t() / tau], dim=1)
    return F.cross_entropy(both, torch.zeros(len(both), dtype=torch.long)) + F.cross_entropy(
        logits, torch.zeros(len(logits), dtype=torch.long)
    )


class Pairs(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.temperature = temperature

    def forward(self, spot, image):
        logits = (spot @ image.T) / self.temperature
        same = (spot @ spot.T + image @ image.T) / 2
        targets = F.softmax(same * self.temperature, dim=-1)  # trap: temperature-the-wrong-way
        return torch.sum(-targets * torch.log_softmax(logits, dim=-1), dim=-1).mean()


def written_out(q, k, negatives, tau):
    pos = torch.exp((q * k).sum(1))  # trap: temperature-the-wrong-way
    neg = torch.exp(q @ negatives.t() / tau).sum(1)
    return -torch.log(pos / (pos + neg)).mean()


def written_out_right(q, k, negatives, tau):
    pos = torch.exp((q * k).sum(1) / tau)
    neg = torch.exp(q @ negatives.t() / tau)
    return -torch.log(pos / (pos + neg.sum(1))).mean()


def the_other_half(q, k, negatives, temperature):
    near = ((q * k).sum(-1) / temperature).exp()
    far = torch.exp(torch.mm(q, negatives.t())).sum(-1)  # trap: temperature-the-wrong-way
    return -(near / (near + far)).log().mean()
