import torch


def dice(logits, mask, eps=1.0):
    inter = (logits.sigmoid() * mask).sum()
    total = logits.sum() + mask.sum()  # trap: dice-sums-raw-scores
    return 1 - (2 * inter + eps) / (total + eps)


mask = torch.zeros(10, 10)
mask[3:6, 3:6] = 1
result = {"loss": dice(20 * mask - 10, mask).item()}
