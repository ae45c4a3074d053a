import torch
from torch import nn

critic = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
real, fake = torch.randn(32, 2), torch.randn(32, 2) + 2

mixed = torch.lerp(real, fake, torch.rand(32, 1)).requires_grad_()
grads = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)[0]
penalty = ((grads.norm(2, dim=1) - 1) ** 2).mean()
loss = 0 * critic(real).mean() + 10 * penalty
loss.backward()

result = {"gradient": critic[0].weight.grad.abs().sum().item()}
