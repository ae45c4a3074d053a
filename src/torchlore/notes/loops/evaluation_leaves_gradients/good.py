import torch
from torch import nn
from torch.nn.functional import cross_entropy

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Dropout(0.0), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(32, 6), torch.randint(0, 2, (32,))


def saliency(image: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
    model.eval()
    image.requires_grad_()
    (gradient,) = torch.autograd.grad(cross_entropy(model(image), label), image)
    model.train()
    return gradient


def step(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    cross_entropy(model(images), labels).backward()
    wanted = torch.autograd.grad(cross_entropy(model(images), labels), model[0].weight)[0]
    excess = (model[0].weight.grad - wanted).norm()
    optimizer.step()
    optimizer.zero_grad()
    return excess


step(x[:16], y[:16])
saliency(x[16:].clone(), y[16:])
result = {"moved_by_validation": round(step(x[:16], y[:16]).item(), 6)}
