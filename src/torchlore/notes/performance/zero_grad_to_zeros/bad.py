import torch
from torch import nn

used, unused = nn.Linear(4, 1), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*used.parameters(), *unused.parameters()], lr=0.1, weight_decay=0.1)
x, y = torch.randn(32, 4), torch.randn(32, 1)
(used(x) + unused(x)).mean().backward()  # a first batch in which both take part
before = unused.weight.detach().clone()

for _ in range(5):
    optimizer.zero_grad(set_to_none=False)  # trap: zero-grad-to-zeros
    loss = nn.functional.mse_loss(used(x), y)
    loss.backward()
    optimizer.step()

optimizer.zero_grad(set_to_none=False)  # trap: zero-grad-to-zeros
kept = sum(p.grad.numel() for p in used.parameters() if p.grad is not None)
result = {"kept": kept, "unused_moved": (unused.weight - before).abs().max().item()}
