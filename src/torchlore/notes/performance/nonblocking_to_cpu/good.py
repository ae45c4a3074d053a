import torch

device = torch.device("cuda")
a = torch.rand(8192, 8192, device=device)
for _ in range(20):
    a = a @ a / 8192  # keeps the device busy
values = torch.ones(2**24, device=device)

arrived = values.to("cpu")
total = arrived.sum().item()

result = {"sum": total, "expected": float(2**24)}
