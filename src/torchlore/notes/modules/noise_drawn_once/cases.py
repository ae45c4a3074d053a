import torch
from torch import nn
from torch.utils.data import Dataset
from torchvision import transforms


class Gaussian(nn.Module):
    def __init__(self, dim, size):
        super().__init__()
        self.noise = torch.randn(size, dim).to("cpu")  # trap: noise-drawn-once
        self.register_buffer("fixed_noise", torch.randn(size, dim))
        self.register_buffer("basis", torch.randn(dim, 32))
        self.layer = nn.Linear(dim, 2 * dim)

    def reparameterize(self, mu, logvar):
        std = logvar.mul(0.5).exp()
        return mu + std * self.noise[: len(mu)]

    def forward(self, x):
        mu, logvar = self.layer(x).chunk(2, dim=1)
        return self.reparameterize(mu, logvar) @ self.basis

    def show(self, mu, std):
        return mu + std * self.fixed_noise


class Noisy(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.mean, self.sigma = nn.Parameter(torch.zeros(dim)), nn.Parameter(torch.ones(dim))
        self.register_buffer("epsilon", torch.randn(dim))

    def forward(self, x):
        self.epsilon.normal_()
        return x * (self.mean + self.sigma * self.epsilon)


def train(maker, judge, opt, batches, draw):
    z = torch.randn(32, 8)  # trap: noise-drawn-once
    fixed_z = torch.randn(32, 8)
    generator, critic = nn.Linear(8, 4), nn.Linear(4, 1)
    for _ in range(batches):
        fake = generator(z)
        loss = -critic(fake).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            draw(generator(fixed_z))


def anew(opt, batches):
    generator, critic = nn.Linear(8, 4), nn.Linear(4, 1)
    z = torch.randn(32, 8)
    for _ in range(batches):
        z = torch.randn(32, 8)
        loss = -critic(generator(z)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def regress(opt, batches):
    body, head = nn.Linear(8, 4), nn.Linear(4, 1)
    x = torch.randn(32, 8)
    for _ in range(batches):
        loss = head(body(x)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def jitter(x):
    return x + 0.1 * torch.randn_like(x)


class Gestures(Dataset):
    def __init__(self, rows, transform):
        self.rows = jitter(rows)  # trap: noise-drawn-once
        self.pictures = []
        for row in rows:
            self.pictures.append(transform(row))  # trap: noise-drawn-once
        self.plain = rows + torch.randn(3)

    def __getitem__(self, i):
        return self.rows[i], self.pictures[i]


class Anew(Dataset):
    def __init__(self, rows, resize):
        self.rows = [resize(row) for row in rows]
        self.crop = transforms.RandomCrop(4)
        self.steps = [transforms.RandomHorizontalFlip() for _ in range(2)]

    def __getitem__(self, i):
        return jitter(self.crop(self.rows[i]))


def sets(rows):
    flip = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()])
    return Gestures(rows, flip), Anew(rows, transforms.Resize(8))
