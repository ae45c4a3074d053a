import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(256, 4)
encoder, decoder, codebook = nn.Linear(4, 3), nn.Linear(3, 4), nn.Embedding(16, 3)
start = codebook.weight.detach().clone()
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters(), *codebook.parameters()], lr=0.01)
for _ in range(50):
    z = encoder(x)
    quantized = codebook(torch.cdist(z, codebook.weight).argmin(1))
    quantized = z + (quantized - z).detach()
    books = F.mse_loss(quantized, z.detach())  # trap: codebook-loss-after-straight-through
    loss = F.mse_loss(decoder(quantized), x) + books
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"moved": (codebook.weight - start).abs().max().item()}
