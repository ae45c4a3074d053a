import torch

ids = torch.tensor([3, 16777217, 5])

result = {"largest": int(ids.max())}
