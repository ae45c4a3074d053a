"""Other spellings of negative-step-slice, and code that only looks like it."""
import numpy as np
import torch
from torch.nn import functional as F

x = torch.rand(2, 3, 4)
a = x[::-1]  # trap: negative-step-slice
b = x[:, :, ::-1]  # trap: negative-step-slice
c = F.relu(x)[..., ::-2]  # trap: negative-step-slice
d = x[0, 5:1:-1]  # trap: negative-step-slice

# clean
e = x.flip(0)
names = ["a", "b"][::-1]
array = np.arange(3)[::-1]
shape = x.shape[::-1]
back = x.numpy()[::-1].copy()
every_other = x[::2]


def reverse(sequence):
    return sequence[::-1]


def swapped_coordinates(mask):
    both = torch.rand(2, 2).nonzero(as_tuple=True)
    rows_and_columns = torch.where(mask)
    return both[::-1], rows_and_columns[::-1]
