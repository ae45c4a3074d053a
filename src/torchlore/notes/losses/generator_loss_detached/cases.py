import torch
import torch.nn.functional as F
from torch import nn

netG, netD = nn.Linear(2, 2), nn.Linear(2, 1)


def bad(z, real_label):
    fake = netG(z)
    g_loss = -netD(fake.detach()).mean()  # trap: generator-loss-detached
    errG = F.binary_cross_entropy_with_logits(netD(fake.detach()), real_label)  # trap: generator-loss-detached
    out = netD(netG(z).detach())  # trap: generator-loss-detached
    return g_loss + errG + F.mse_loss(out, torch.ones_like(out))


def fine(z, real, one):
    fake = netG(z)
    d_loss = netD(fake.detach()).mean() - netD(real).mean()
    verdict = netD(fake.detach())
    d_loss = d_loss + F.mse_loss(verdict, torch.zeros_like(verdict))
    g_loss = F.mse_loss(netD(fake), torch.ones(1))
    loss_real = F.mse_loss(netD(real), torch.ones(1))
    shown = netD(fake.detach())
    g_loss = g_loss + nn.L1Loss()(netG(z), fake.detach())
    return d_loss, g_loss, loss_real, shown


def train_discriminator(images, weight):
    real_verdict = netD(images["real"].detach())
    fake_verdict = netD(images["fake"].detach())
    loss = F.mse_loss(real_verdict, torch.ones_like(real_verdict)) + F.mse_loss(fake_verdict, torch.zeros_like(fake_verdict))
    return weight * loss


def judge_photos(photos):
    verdict = netD(photos.real.detach())
    return F.mse_loss(verdict, torch.ones_like(verdict))
