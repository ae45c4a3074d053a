import torch

before = torch.tensor([[10, 200], [30, 40]], dtype=torch.uint8)
now = torch.tensor([[12, 198], [30, 45]], dtype=torch.uint8)

difference = now - before  # trap: bytes-wrap-around
result = {"darkest": difference[0, 1].item()}
