import torch

lengths = [2, 3, 4]
mask = torch.ones(4, dtype=torch.bool).expand(3, -1).clone()
for row, length in enumerate(lengths):
    mask[row, length:] = False

result = {"visible": mask.sum(1).tolist()}
