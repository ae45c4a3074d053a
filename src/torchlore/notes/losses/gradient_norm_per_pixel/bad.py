import torch
from torch import nn

critic = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 1))
real, fake = torch.randn(4, 1, 8, 8), torch.randn(4, 1, 8, 8)
t = torch.rand(len(real), 1, 1, 1)
mixed = (t * real + (1 - t) * fake).requires_grad_()
score = critic(mixed)
gradients = torch.autograd.grad(score, mixed, torch.ones_like(score), create_graph=True)[0]
lengths = gradients.norm(2, dim=1)  # trap: gradient-norm-per-pixel
penalty = ((lengths - 1) ** 2).mean()
penalty.backward()

result = {"lengths": lengths.numel()}
