import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
activations = []


def remember(module, inputs, output):
    activations.append(output)  # trap: hook-hoards-activations


model[1].register_forward_hook(remember)
for _ in range(20):
    optimizer.zero_grad()
    model(torch.randn(16, 8)).pow(2).mean().backward()
    optimizer.step()

result = {"graphs_kept": sum(torch.is_tensor(one) and one.grad_fn is not None for one in activations)}
