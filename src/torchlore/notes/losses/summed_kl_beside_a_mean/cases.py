import torch
from torch import nn
from torch.nn import functional as F


def kl_divergence(mu, logvar):
    return -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.criterion = nn.BCELoss()

    def loss(self, x, x_hat, mu, logvar):
        bce = self.criterion(x_hat, x)  # trap: summed-kl-beside-a-mean
        kld = -0.5 * (1 + logvar - mu**2 - torch.exp(logvar)).sum()
        return bce + kld

    def by_helper(self, x, x_hat, mu, logvar):
        return F.mse_loss(x_hat, x) + kl_divergence(mu, logvar)  # trap: summed-kl-beside-a-mean

    def weighted(self, x, x_hat, mu, logvar, beta):
        return F.mse_loss(x_hat, x) + beta * kl_divergence(mu, logvar)

    def divided(self, x, x_hat, mu, logvar):
        kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / len(x)
        per_sample = torch.mean(-0.5 * torch.sum(1 + logvar - mu**2 - logvar.exp(), dim=1), dim=0)
        return F.mse_loss(x_hat, x) + kld, F.mse_loss(x_hat, x) + per_sample

    def both_summed(self, x, x_hat, mu, logvar):
        return F.mse_loss(x_hat, x, reduction="sum") + kl_divergence(mu, logvar)
