import torch

x = torch.tensor([0.0, 4.0, 9.0], requires_grad=True)
safe = torch.where(x > 0, x, 1.0)
y = torch.where(x > 0, torch.sqrt(safe), torch.zeros_like(x))
y.sum().backward()

result = {"values": y.tolist(), "nan_gradients": int(x.grad.isnan().sum())}
