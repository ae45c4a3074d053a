"""Other spellings of index-by-nonzero, and code that only looks like it."""
import numpy as np
import torch

x = torch.rand(3, 4)
a = x[x.nonzero()]  # trap: index-by-nonzero
where = torch.nonzero(x > 0.5)
b = x[where]  # trap: index-by-nonzero
x[torch.argwhere(x < 0.1)] = 0.0  # trap: index-by-nonzero

# clean
c = x[x.nonzero(as_tuple=True)]
d = x[torch.nonzero(x, as_tuple=True)]
e = x[x != 0]
rows = x[torch.nonzero(x[:, 0]).squeeze(1)]
f = x[where[:, 0], where[:, 1]]
array = np.ones((2, 2))
g = array[np.nonzero(array)]
count = torch.nonzero(x).size(0)
flat = torch.rand(5)
h = flat[torch.nonzero(flat)].squeeze(1)


def weights(label):
    counts = torch.bincount(label)
    return counts[counts.nonzero()].squeeze(1)
