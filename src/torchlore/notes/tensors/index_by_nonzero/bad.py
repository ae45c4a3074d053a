import torch

losses = torch.tensor([[1.0, 0.0], [2.0, 3.0]])  # zero where padded
kept = losses[torch.nonzero(losses)]  # trap: index-by-nonzero

result = {"mean": kept.mean().item(), "shape": tuple(kept.shape)}
