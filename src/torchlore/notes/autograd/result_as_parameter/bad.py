import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")
model = nn.Linear(20, 2).double().requires_grad_(False)
images = torch.randn(256, 20).double() * 0.3
labels = model(images).argmax(1)

delta = torch.zeros(images.shape, requires_grad=True).double()  # trap: result-as-parameter
for _ in range(10):
    loss = nn.functional.cross_entropy(model(images + delta), labels)
    loss.backward()
    with torch.no_grad():
        if delta.grad is not None:
            delta += 0.05 * delta.grad.sign()
            delta.grad = None

changed = model(images + delta).argmax(1) != labels
result = {"success": changed.float().mean().item()}
