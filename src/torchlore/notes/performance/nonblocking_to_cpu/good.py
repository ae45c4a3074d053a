import torch

device = torch.device("cuda")
earlier = torch.zeros(2**24, device=device).to("cpu", non_blocking=True)
torch.cuda.synchronize()
del earlier  # its pinned buffer is used again
a = torch.rand(8192, 8192, device=device)
for _ in range(20):
    a = a @ a / 8192  # keeps the device busy
values = torch.ones(2**24, device=device)

arrived = values.to("cpu")
total = arrived.sum().item()

result = {"sum": total, "expected": float(2**24)}
