import torch
import torch.nn.functional as F
from torch import nn

G = nn.Linear(4, 2)
D = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
g_optimizer = torch.optim.SGD(G.parameters(), lr=0.05)
d_optimizer = torch.optim.SGD(D.parameters(), lr=0.05)
before = G.weight.detach().clone()
for _ in range(20):
    real, fake = torch.randn(32, 2) + 3, G(torch.randn(32, 4))
    on_real, on_fake = D(real), D(fake.detach())
    d_loss = F.mse_loss(on_real, torch.ones_like(on_real)) + F.mse_loss(on_fake, torch.zeros_like(on_fake))
    d_optimizer.zero_grad()
    d_loss.backward()
    d_optimizer.step()

    verdict = D(fake.detach())  # trap: generator-loss-detached
    g_loss = F.mse_loss(verdict, torch.ones_like(verdict))
    g_optimizer.zero_grad()
    g_loss.backward()
    g_optimizer.step()

result = {"generator_moved": (G.weight - before).norm().item()}
