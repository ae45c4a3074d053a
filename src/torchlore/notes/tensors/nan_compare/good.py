import torch

losses = torch.tensor([0.5, float("nan"), 0.25])
skipped = 0
for loss in losses:
    if torch.isnan(loss):
        skipped += 1

result = {"skipped": skipped}
