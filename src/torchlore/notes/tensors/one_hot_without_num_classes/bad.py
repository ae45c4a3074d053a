import torch
from torch.nn import functional as F

batches = torch.tensor([0, 3, 1, 2, 1, 0, 0, 1]).split(4)
widths = []
for labels in batches:
    target = F.one_hot(labels).float()  # trap: one-hot-without-num-classes
    widths.append(target.shape[1])

result = {"widths": widths}
