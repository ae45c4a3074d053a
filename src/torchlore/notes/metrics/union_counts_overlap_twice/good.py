import torch


def iou(pred, target, eps=1e-6):
    intersection = (pred * target).sum()
    union = pred.sum() + target.sum() - intersection
    return (intersection + eps) / (union + eps)


mask = (torch.arange(64).view(8, 8) % 3 == 0).float()

result = {"perfect": iou(mask, mask).item()}
