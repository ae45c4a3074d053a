import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)


def box(size, lam):
    height, width = size[-2:]
    cut_h, cut_w = int(height * np.sqrt(1 - lam)), int(width * np.sqrt(1 - lam))
    y, x = rng.integers(height), rng.integers(width)
    top, bottom = np.clip([y - cut_h // 2, y + cut_h // 2], 0, height)
    left, right = np.clip([x - cut_w // 2, x + cut_w // 2], 0, width)
    return top, bottom, left, right


apart = 0.0
criterion = nn.CrossEntropyLoss()
net = nn.Sequential(nn.Flatten(), nn.Linear(32 * 32, 2))
for _ in range(50):
    images, labels = torch.stack([torch.zeros(1, 32, 32), torch.ones(1, 32, 32)]), torch.tensor([0, 1])
    lam = rng.beta(1, 1)
    order = torch.tensor([1, 0])
    top, bottom, left, right = box(images.shape, lam)
    images[:, :, top:bottom, left:right] = images[order, :, top:bottom, left:right]
    lam = 1 - (bottom - top) * (right - left) / (32 * 32)
    out = net(images)
    loss = criterion(out, labels) * lam + criterion(out, labels[order]) * (1 - lam)
    apart = max(apart, abs(float(lam) - float(images[1].mean())))
result = {"apart": apart}
