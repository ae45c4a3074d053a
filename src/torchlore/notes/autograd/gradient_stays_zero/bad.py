import torch
from torch import nn


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):  # noqa: ARG004 - what autograd calls it with
        return torch.round(8 * x) / 8

    @staticmethod
    def backward(ctx, gradient):  # noqa: ARG004 - see above
        return torch.zeros_like(gradient)


class Quantised(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 16)  # trap: gradient-stays-zero
        self.last = nn.Linear(16, 2)

    def forward(self, x):
        return self.last(Round.apply(torch.tanh(self.first(x))))


torch.manual_seed(0)
model = Quantised()
before = model.first.weight.detach().clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(50):
    x = torch.randn(32, 6)
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long()).backward()
    optimizer.step()
result = {"moved": (model.first.weight.detach() - before).abs().max().item()}
