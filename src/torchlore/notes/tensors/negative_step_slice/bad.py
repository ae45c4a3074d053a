import torch

images = torch.arange(4.0).expand(2, 1, 4, 4)
try:
    mirrored = images[..., ::-1][0, 0, 0].tolist()  # trap: negative-step-slice
except ValueError:
    mirrored = None

result = {"mirrored": mirrored}
