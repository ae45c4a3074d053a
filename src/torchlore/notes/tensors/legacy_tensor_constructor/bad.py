import torch

ids = torch.Tensor([3, 16777217, 5])  # trap: legacy-tensor-constructor

result = {"largest": int(ids.max())}
