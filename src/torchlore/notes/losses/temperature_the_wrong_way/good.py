import torch
from torch.nn import functional as F

torch.manual_seed(0)
z = torch.randn(32, 8, requires_grad=True)
temperature = 0.1
unit = F.normalize(z, dim=1)
views = F.normalize(z.detach() + 0.3 * torch.randn(32, 8), dim=1)
logits = unit @ views.t() / temperature
loss = F.cross_entropy(logits, torch.arange(32))
loss.backward()
result = {"gradient": z.grad.norm().item(), "loss": loss.item()}
