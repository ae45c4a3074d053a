import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
encoder, decoder, codebook = nn.Linear(6, 4), nn.Linear(4, 6), nn.Embedding(8, 4)
parameters = [*encoder.parameters(), *decoder.parameters(), *codebook.parameters()]
optimizer = torch.optim.Adam(parameters, lr=0.01)
before = codebook.weight.detach().clone()
for _ in range(20):
    x = torch.randn(32, 6)
    z = encoder(x)
    code = codebook(torch.cdist(z, codebook.weight).argmin(1))
    vq = F.mse_loss(code.detach(), z) + 0.25 * F.mse_loss(code.detach(), z)  # trap: loss-term-twice
    loss = F.mse_loss(decoder(z + (code - z).detach()), x) + vq
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"codebook_moved": (codebook.weight - before).abs().max().item()}
