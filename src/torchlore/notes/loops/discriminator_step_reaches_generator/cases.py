import torch
from torch import nn

bce = nn.BCEWithLogitsLoss()


class Gan:
    def __init__(self, gen, disc):
        self.gen, self.disc = gen, disc
        self.g_opt = torch.optim.Adam(self.gen.parameters())
        self.d_opt = torch.optim.Adam(self.disc.parameters())

    def wrong(self, real, z, one, zero):
        self.g_opt.zero_grad()
        self.d_opt.zero_grad()
        fake = self.gen(z)
        d_loss = bce(self.disc(real), one) + bce(self.disc(fake), zero)  # trap: discriminator-step-reaches-generator
        d_loss.backward(retain_graph=True)
        self.d_opt.step()
        g_loss = bce(self.disc(self.gen(z)), one)
        g_loss.backward()
        self.g_opt.step()

    def cleared(self, real, z, one, zero):
        self.d_opt.zero_grad()
        d_loss = bce(self.disc(real), one) + bce(self.disc(self.gen(z)), zero)
        d_loss.backward()
        self.d_opt.step()
        self.g_opt.zero_grad()
        bce(self.disc(self.gen(z)), one).backward()
        self.g_opt.step()

    def detached(self, real, z, one, zero):
        self.g_opt.zero_grad()
        self.d_opt.zero_grad()
        fake = self.gen(z)
        d_loss = bce(self.disc(real), one) + bce(self.disc(fake.detach()), zero)
        d_loss.backward()
        self.d_opt.step()
        bce(self.disc(fake), one).backward()
        self.g_opt.step()

    def generator_first(self, real, z, one, zero):
        self.g_opt.zero_grad()
        fake = self.gen(z)
        bce(self.disc(fake), one).backward()
        self.g_opt.step()
        self.d_opt.zero_grad()
        (bce(self.disc(real), one) + bce(self.disc(fake.detach()), zero)).backward()
        self.d_opt.step()


def encoder_and_decoder(encoder, decoder, loader):
    first, second = torch.optim.Adam(encoder.parameters()), torch.optim.Adam(decoder.parameters())
    for x in loader:
        first.zero_grad()
        second.zero_grad()
        loss = (decoder(encoder(x)) - x).pow(2).mean()
        loss.backward()
        first.step()
        second.step()


class Either:
    def __init__(self, network, loss, scaler):
        self.network, self.loss, self.scaler = network, loss, scaler
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.1)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = self.loss(self.network(x), y)
        if self.scaler is not None:
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            loss.backward()
            self.optimizer.step()


def generator_first_and_stepped_last(gen, disc, judge, loader, one, zero):
    g_opt, d_opt = torch.optim.Adam(gen.parameters()), torch.optim.Adam(disc.parameters())
    for x in loader:
        fake = gen(x)
        g_loss = bce(disc(fake), one) + judge(fake, x).mean()  # trap: discriminator-step-reaches-generator
        g_loss.backward()
        d_loss = bce(disc(fake.detach()), zero) + bce(disc(x), one)
        d_loss.backward()
        d_opt.step()
        g_opt.step()
        g_opt.zero_grad()
        d_opt.zero_grad()


def discriminator_first_and_stepped_last(gen, disc, loader, one, zero):
    g_opt, d_opt = torch.optim.Adam(gen.parameters()), torch.optim.Adam(disc.parameters())
    for x in loader:
        g_opt.zero_grad()
        d_opt.zero_grad()
        fake = gen(x)
        (bce(disc(fake), zero) + bce(disc(x), one)).backward(retain_graph=True)  # trap: discriminator-step-reaches-generator
        bce(disc(fake), one).backward()
        d_opt.step()
        g_opt.step()


def by_turns(gen, disc, loader, one, zero):
    g_opt, d_opt = torch.optim.Adam(gen.parameters()), torch.optim.Adam(disc.parameters())
    for turn, x in enumerate(loader):
        g_opt.zero_grad()
        d_opt.zero_grad()
        if turn % 2:
            fake = gen(x)
        else:
            fake = gen(x).detach()  # trap: detach-after-frozen-forward
        verdict = disc(fake)
        d_loss, g_loss = bce(disc(x), one) + bce(verdict, zero), bce(verdict, one)
        if turn % 2 == 0:
            d_loss.backward()
            d_opt.step()
        if turn % 2 == 1:
            g_loss.backward()
            g_opt.step()


def generator_first(G, D, opt_g, opt_d, bce, loader):
    opt_g = torch.optim.Adam(G.parameters())
    opt_d = torch.optim.Adam(D.parameters())
    for real, z in loader:
        opt_g.zero_grad()
        opt_d.zero_grad()
        fake = G(z)
        bce(D(fake), torch.ones(8, 1)).backward()  # trap: discriminator-step-reaches-generator
        opt_g.step()
        (bce(D(real), torch.ones(8, 1)) + bce(D(fake.detach()), torch.zeros(8, 1))).backward()
        opt_d.step()


def generator_first_cleared(G, D, bce, loader):
    opt_g = torch.optim.Adam(G.parameters())
    opt_d = torch.optim.Adam(D.parameters())
    for real, z in loader:
        opt_g.zero_grad()
        fake = G(z)
        bce(D(fake), torch.ones(8, 1)).backward()
        opt_g.step()
        opt_d.zero_grad()
        (bce(D(real), torch.ones(8, 1)) + bce(D(fake.detach()), torch.zeros(8, 1))).backward()
        opt_d.step()
