import torch
import torch.nn.functional as F
from torch.distributions import Normal


class VAE(torch.nn.Module):
    def reparameterize(self, mu, logvar):
        std = torch.exp(logvar)  # trap: deviation-for-variance
        return mu + torch.randn_like(std) * std

    def sample(self, mu, log_var):
        return Normal(mu, log_var.exp()).rsample()  # trap: deviation-for-variance

    def posterior(self, mu, var):
        return Normal(mu, var)  # trap: deviation-for-variance

    def nll(self, out, y):
        return F.gaussian_nll_loss(out["mean"], y, out["std"])  # trap: deviation-for-variance

    def right(self, mu, logvar, y):
        std = torch.exp(0.5 * logvar)
        var = logvar.exp()
        half = logvar / 2
        sigma = half.exp()
        loss = F.gaussian_nll_loss(mu, y, var) + F.gaussian_nll_loss(mu, y, sigma**2)
        return Normal(mu, std).rsample(), Normal(mu, var.sqrt()), loss

    def halved(self, mu, logvar):
        logvar = logvar * 0.5
        std = logvar.exp()
        return Normal(mu, std)

    def by_log_std(self, mu, log_std):
        std = log_std.exp()
        return Normal(mu, std)

    def of_ones(self, mu):
        var = torch.ones_like(mu)
        return Normal(mu, var)


class TwoOfThem:
    def __init__(self, sigma1, sigma2):
        self.first, self.second = Normal(0, sigma1), Normal(0, sigma2)


def kl_of_a_deviation(mu, logstd):
    wrong = -0.5 * (1 + 2 * logstd - mu**2 - torch.exp(logstd)).sum(1)  # trap: deviation-for-variance
    right = -0.5 * (1 + 2 * logstd - mu**2 - torch.exp(logstd) ** 2).sum(1)
    also = -0.5 * (1 + 2 * logstd - mu.pow(2) - torch.exp(2 * logstd)).sum(1)
    return wrong + right + also - 0.5 * (1 + logstd - mu.pow(2) - logstd.exp()).sum(1)


def sample(mu, logvar):
    eps = torch.randn_like(mu)
    once = mu + logvar.exp() * eps  # trap: deviation-for-variance
    twice = mu + torch.randn_like(mu) * torch.exp(logvar)  # trap: deviation-for-variance
    right = mu + torch.exp(0.5 * logvar) * eps + torch.exp(logvar / 2) * eps
    return once, twice, right, logvar.exp().sqrt() * eps
