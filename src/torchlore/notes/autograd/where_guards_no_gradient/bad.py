import torch

x = torch.tensor([0.0, 4.0, 9.0], requires_grad=True)
y = torch.where(x > 0, torch.sqrt(x), torch.zeros_like(x))  # trap: where-guards-no-gradient
y.sum().backward()

result = {"values": y.tolist(), "nan_gradients": int(x.grad.isnan().sum())}
