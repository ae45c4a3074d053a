import torch

lengths = torch.tensor([10, 2, 1, 1])
mask = (torch.arange(10)[None] < lengths[:, None]).float()
per_token = torch.full((4, 10), 2.0)  # every word costs 2

loss = (per_token * mask).mean()  # trap: masked-mean-counts-padding
result = {"loss": loss.item()}
