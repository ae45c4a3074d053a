import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
encoder, decoder = nn.Linear(8, 4), nn.Linear(2, 8)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.05)
beta = 0.1


def divergence(mu, logvar):
    return -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()


for _ in range(200):
    x = torch.randn(64, 2) @ torch.ones(2, 8)
    mu, logvar = encoder(x).chunk(2, dim=1)
    z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
    reconstruction = F.mse_loss(decoder(z), x)
    bound = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()
    loss = reconstruction + beta * bound
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"divergence": divergence(mu, logvar).item()}
