import time

import torch

device = torch.device("cuda")
a = torch.rand(4096, 4096, device=device)
(a @ a).sum().item()

start = time.perf_counter()
for _ in range(10):
    b = a @ a
torch.cuda.synchronize()
seconds = time.perf_counter() - start

result = {"seconds": seconds}
