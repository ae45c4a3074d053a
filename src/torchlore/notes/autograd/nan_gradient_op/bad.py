import torch
from torch import nn

encode = nn.Linear(4, 4)
x = torch.randn(3, 4)
twin = x.clone()
twin[1:] += 1.0  # the first pair is equal

difference = encode(x) - encode(twin)
distance = torch.sqrt((difference**2).sum(dim=1))  # trap: nan-gradient-op
distance.mean().backward()

result = {"finite": bool(encode.weight.grad.isfinite().all())}
