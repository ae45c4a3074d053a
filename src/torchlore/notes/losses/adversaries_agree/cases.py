import torch
from torch import nn
from torch.nn import functional as F


def found_out(G, D, opt_g, opt_d, loader):
    bce = nn.BCEWithLogitsLoss()
    for real in loader:
        fake = G(torch.randn(len(real), 16))
        d_loss = bce(D(real), torch.ones(len(real), 1)) + bce(D(fake.detach()), torch.zeros(len(real), 1))
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
        g_loss = bce(D(fake), torch.zeros(len(real), 1))  # trap: adversaries-agree
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()


def wasserstein(G, critic, opt_g, opt_c, loader):
    for real in loader:
        fake = G(torch.randn(len(real), 16))
        c_loss = critic(real).mean() - critic(fake.detach()).mean()  # trap: adversaries-agree
        opt_c.zero_grad()
        c_loss.backward()
        opt_c.step()
        g_loss = -critic(fake).mean()
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()


def right(G, D, opt_g, opt_d, loader):
    for real in loader:
        valid, wrong = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        fake = G(torch.randn(len(real), 16))
        opt_g.zero_grad()
        g_loss = F.binary_cross_entropy_with_logits(D(fake), valid)
        g_loss.backward()
        opt_g.step()
        opt_d.zero_grad()
        real_loss = F.binary_cross_entropy_with_logits(D(real), valid)
        fake_loss = F.binary_cross_entropy_with_logits(D(fake.detach()), wrong)
        d_loss = (real_loss + fake_loss) / 2
        d_loss.backward()
        opt_d.step()


def right_critic(G, critic_net, opt_g, opt_c, loader):
    for real in loader:
        fake = G(torch.randn(len(real), 16))
        c_loss = -critic_net(real).mean() + critic_net(fake.detach()).mean()
        opt_c.zero_grad()
        c_loss.backward()
        opt_c.step()
        g_loss = -critic_net(fake).mean()
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()


def soft(G, D, opt_g, opt_d, loader):
    for real in loader:
        fake = G(torch.randn(len(real), 16))
        opt_d.zero_grad()
        d_loss = F.softplus(-D(real)).mean() + F.softplus(D(fake.detach())).mean()
        d_loss.backward()
        opt_d.step()
        opt_g.zero_grad()
        g_loss = F.softplus(-D(fake)).mean()
        g_loss.backward()
        opt_g.step()


def turned_by_the_gradient(G, judge, opt_g, opt_j, loader, one, minus_one):
    for real in loader:
        fake = G(torch.randn(len(real), 16))
        opt_j.zero_grad()
        on_real = judge(real).mean()
        on_real.backward(one)
        on_fake = judge(fake.detach()).mean()
        on_fake.backward(minus_one)
        opt_j.step()
        opt_g.zero_grad()
        g_loss = judge(fake).mean()
        g_loss.backward(one)
        opt_g.step()


def filled(G, D, opt_g, opt_d, loader):
    bce, real_label, fake_label = nn.BCELoss(), 1.0, 0.0
    for real in loader:
        opt_d.zero_grad()
        opt_g.zero_grad()
        label = torch.full((len(real),), real_label)
        bce(D(real).view(-1), label).backward()
        fake = G(torch.randn(len(real), 16))
        label.fill_(fake_label)
        bce(D(fake.detach()).view(-1), label).backward()
        opt_d.step()
        out = D(fake).view(-1)
        err = bce(out, label)  # trap: adversaries-agree
        err.backward()
        opt_g.step()


def filled_again(G, D, opt_g, opt_d, loader):
    bce, real_label, fake_label = nn.BCELoss(), 1.0, 0.0
    for real in loader:
        opt_d.zero_grad()
        opt_g.zero_grad()
        label = torch.full((len(real),), real_label)
        bce(D(real).view(-1), label).backward()
        fake = G(torch.randn(len(real), 16))
        label.fill_(fake_label)
        bce(D(fake.detach()).view(-1), label).backward()
        opt_d.step()
        label.fill_(real_label)
        err = bce(D(fake).view(-1), label)
        err.backward()
        opt_g.step()


class Wasserstein:
    def critic_step(self, real):
        fake = self.g(torch.randn(len(real), 8)).detach()
        loss = self.c(fake).mean() - self.c(real).mean()
        self.opt_c.zero_grad()
        loss.backward()
        self.opt_c.step()

    def generator_step(self, n):
        fake = self.g(torch.randn(n, 8))
        loss = self.c(fake).mean()  # trap: adversaries-agree
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
