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
