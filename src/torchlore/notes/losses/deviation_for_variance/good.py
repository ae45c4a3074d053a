import torch
from torch import nn

torch.manual_seed(0)
target = 0.3 * torch.randn(2000)
rho = nn.Parameter(torch.zeros(1))
optimizer = torch.optim.Adam([rho], lr=0.05)
criterion = nn.GaussianNLLLoss()
for _ in range(300):
    sigma = nn.functional.softplus(rho).expand(2000)
    loss = criterion(torch.zeros(2000), target, sigma**2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
result = {"sigma": nn.functional.softplus(rho).item()}
