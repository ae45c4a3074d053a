import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self, z_dim=4):
        super().__init__()
        self.mu, self.logvar = nn.Linear(6, z_dim), nn.Linear(6, z_dim)
        self.register_buffer("eps", torch.randn(1, z_dim))  # trap: noise-drawn-once

    def forward(self, x):
        mu, logvar = self.mu(x), self.logvar(x)
        return mu + self.eps * torch.exp(0.5 * logvar)


torch.manual_seed(0)
vae = VAE()
x = torch.randn(1, 6)
codes = torch.stack([vae(x) for _ in range(200)])
result = {"spread": codes.std(dim=0).mean().item()}
