import torch
import torch.nn.functional as F
from torch import nn


class TripletLoss(nn.Module):
    def __init__(self, margin=0.3, reduction="mean"):
        super().__init__()
        self.margin = margin  # trap: term-never-used
        self.reduction = reduction

    def forward(self, anchor, positive, negative):
        near, far = F.pairwise_distance(anchor, positive), F.pairwise_distance(anchor, negative)
        loss = F.relu(near - far + 0.1)
        return loss.mean() if self.reduction == "mean" else loss.sum()


class VAE(nn.Module):
    def __init__(self, kl_coeff=0.1):
        super().__init__()
        self.kl_coeff = kl_coeff
        self.net = nn.Linear(4, 4)

    def step(self, x, kl):
        return F.mse_loss(self.net(x), x) + kl  # trap: term-never-used


def elbo_loss(recon, x, mu, logvar, beta=4.0):
    near = F.mse_loss(recon, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return near + kld  # trap: term-never-used


def weighted_loss(recon, x, mu, logvar, beta=4.0):
    near = F.mse_loss(recon, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return near + beta * kld


def train_step(model, optimizer, x, y, aux):
    out, hidden = model(x)
    main_loss = F.cross_entropy(out, y)
    aux_loss = F.mse_loss(hidden, aux)  # trap: term-never-used
    optimizer.zero_grad()
    main_loss.backward()
    optimizer.step()
    return main_loss.item()


def right(model, optimizer, x, y, aux, writer):
    out, hidden = model(x)
    main_loss = F.cross_entropy(out, y)
    aux_loss = F.mse_loss(hidden, aux)
    writer.add_scalar("aux", aux_loss.item())
    loss = main_loss + 0.1 * aux_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


class Scaled(nn.Module):
    def __init__(self, margin=0.3, gamma=2.0):
        super().__init__()
        self.margin, self.gamma = margin, gamma
        self.inner = nn.TripletMarginLoss(margin)

    def forward(self, a, p, n):
        weight = torch.ones(len(a))
        return (weight * self.inner(a, p, n)).pow(self.gamma) + self.margin


def chosen_loss(recon, x, mean, log_var):
    near_loss = F.mse_loss(recon, x)
    bce_loss = F.binary_cross_entropy(recon, x)
    far = -0.5 * torch.mean(1 + log_var - mean.pow(2) - log_var.exp())
    # return bce_loss + far
    return near_loss + far


def test_the_gradient_of_the_loss(module, x, y):
    loss = module.forward(x, y)
    assert module.backward(x, y) is not None


def judged(real_scores, fake_scores, optimizer):
    real_loss = F.softplus(-real_scores).mean()
    real_loss.backward()
    fake_loss = F.softplus(fake_scores).mean()
    fake_loss.backward()
    optimizer.step()
    both_loss = real_loss + fake_loss


def matched_loss(student, teacher, results):
    mask = results.get("mask")
    other_mask = results.get("other_mask", None)
    return ((student - teacher) * mask).pow(2).mean()


def adapted_loss(net, x, y):
    with torch.no_grad():
        before_loss = F.cross_entropy(net(x), y)
    return F.cross_entropy(net(x), y)


class RankingLoss(nn.Module):
    def __init__(self, reduction="mean"):
        super().__init__()
        self.reduction = reduction

    def forward(self, scores):
        raise NotImplementedError


class TrainConfig:
    def __init__(self, lambda_l1=1.0):
        self.lambda_l1 = lambda_l1  # another file reads config.lambda_l1


class Trainer:
    def __init__(self, lambda_l1=1.0):
        self.lambda_l1 = lambda_l1  # trap: term-never-used


def a_typo(pred, target, weight):
    loss = (pred - target).abs().mean()
    loss =+ weight * pred.pow(2).mean()  # trap: term-never-used
    return loss


def a_sign(pred, target, weight):
    kl_loss = +(pred - target).abs().mean()
    return kl_loss + weight


def three(pred, target):
    data, smooth = (pred - target).abs().mean(), pred.diff().abs().mean()
    return data, smooth, data + smooth


def starred(pred, target):
    data, *rest = three(pred, target)
    data.backward()
    return rest
