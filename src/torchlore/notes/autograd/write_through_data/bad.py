import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        gate = torch.sigmoid(self.fc(x))
        gate.data.clamp_(min=0.5)  # trap: write-through-data
        return gate * x


model = Gate().double()
x = torch.randn(16, 4).double()
model(x).sum().backward()

step = 1e-6  # the slope of the same function, measured
errors = []
for i in range(4):
    sums = []
    for sign in (1, -1):
        with torch.no_grad():
            model.fc.bias[i] += sign * step
            sums.append(model(x).sum())
            model.fc.bias[i] -= sign * step
    errors.append(abs((sums[0] - sums[1]).item() / (2 * step) - model.fc.bias.grad[i].item()))
result = {"worst_gradient_error": max(errors)}
