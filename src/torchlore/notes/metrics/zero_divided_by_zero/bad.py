import torch


def dice(prediction: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    overlap = (prediction * mask).sum((1, 2))
    return 2 * overlap / (prediction.sum((1, 2)) + mask.sum((1, 2)))  # trap: zero-divided-by-zero


masks = torch.zeros(4, 8, 8)
masks[:3, 2:5, 2:5] = 1  # the last picture shows nothing
score = dice(masks.clone(), masks).mean()
result = {"is_nan": bool(score.isnan())}
