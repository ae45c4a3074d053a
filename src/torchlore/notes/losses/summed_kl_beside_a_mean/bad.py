import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
data = torch.randn(256, 2) @ torch.randn(2, 16)
encode, decode = nn.Linear(16, 4), nn.Linear(2, 16)
optimizer = torch.optim.Adam([*encode.parameters(), *decode.parameters()], lr=1e-2)
for _ in range(200):
    mu, logvar = encode(data).chunk(2, dim=1)
    z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
    recon = F.mse_loss(decode(z), data)  # trap: summed-kl-beside-a-mean
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    loss = recon + kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
result = {"spread": mu.std().item()}
