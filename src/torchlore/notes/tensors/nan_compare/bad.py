import torch

losses = torch.tensor([0.5, float("nan"), 0.25])
skipped = 0
for loss in losses:
    if loss == float("nan"):  # trap: nan-compare
        skipped += 1

result = {"skipped": skipped}
