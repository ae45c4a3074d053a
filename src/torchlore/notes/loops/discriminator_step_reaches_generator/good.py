import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
G, D = nn.Linear(4, 2), nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
opt_g = torch.optim.SGD(G.parameters(), lr=0.05)
opt_d = torch.optim.SGD(D.parameters(), lr=0.001)
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)
for _ in range(2):
    opt_g.zero_grad()
    opt_d.zero_grad()
    fake = G(torch.randn(64, 4))
    on_real, on_fake = D(torch.randn(64, 2) + 3), D(fake.detach())
    d_loss = F.binary_cross_entropy_with_logits(on_real, ones) + F.binary_cross_entropy_with_logits(on_fake, zeros)
    d_loss.backward()
    opt_d.step()

    again = G(torch.randn(64, 4))
    g_loss = F.binary_cross_entropy_with_logits(D(again), ones)
    alone = torch.autograd.grad(g_loss, G.weight, retain_graph=True)[0]
    g_loss.backward()
    opt_g.step()

result = {"alike": F.cosine_similarity(alone.flatten(), G.weight.grad.flatten(), dim=0).item()}
