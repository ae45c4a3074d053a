import torch
import torch.nn.functional as F

mask = torch.zeros(1, 1, 20, 20)
mask[..., 5:14, 5:14] = 4

small = F.interpolate(mask, size=(13, 13), mode="nearest").long()

result = {"classes": small.unique().tolist()}
