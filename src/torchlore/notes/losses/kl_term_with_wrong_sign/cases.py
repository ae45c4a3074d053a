import torch
from torch.nn import functional as F


def elbo_loss(recon, x, mu, log_var, weight=0.005):
    recons_loss = F.mse_loss(recon, x)
    kld = torch.mean(0.5 * torch.sum(1 + log_var - mu**2 - log_var.exp(), dim=1), dim=0)  # trap: kl-term-with-wrong-sign
    return recons_loss + weight * kld


def twice_turned(recon, x, mu, logvar):
    error = F.binary_cross_entropy(recon, x, reduction="sum")
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return error - kl  # trap: kl-term-with-wrong-sign


def right(recon, x, mu, logvar):
    return F.mse_loss(recon, x) - 0.5 * torch.sum(1 + logvar - mu.pow(2) - torch.exp(logvar))


def also_right(recon, x, mu, logvar, beta):
    kl = 0.5 * torch.sum(logvar.exp() + mu**2 - 1 - logvar)
    return F.mse_loss(recon, x) + beta * kl


def maximised(log_likelihood, mu, logvar):  # the bound itself: no loss in it
    return log_likelihood + 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())


def parts(x, out, mu, log_var):
    rec = (x - out).pow(2).sum(1).mean()
    kld = -0.5 * (1 + log_var - mu**2 - log_var.exp()).sum(1).mean()
    return rec, kld


def taken_away(x, out, mu, log_var, beta):
    rec, kld = parts(x, out, mu, log_var)
    loss = rec - beta * kld  # trap: kl-term-with-wrong-sign
    loss.backward()


def added(x, out, mu, log_var, beta):
    rec, kld = parts(x, out, mu, log_var)
    loss = rec + beta * kld
    loss.backward()


def bound(mu, log_var):
    return 0.5 * torch.sum(1 + log_var - mu.pow(2) - log_var.exp())


def minus_the_bound(x, out, mu, log_var):
    return F.mse_loss(out, x) - bound(mu, log_var)


def both(x, recon, mu, logvar):
    bce = torch.nn.functional.binary_cross_entropy(recon, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce - kld  # trap: kl-term-with-wrong-sign


def trained_on(net, x, optimizer):
    loss = both(x, *net(x))
    loss.backward()
