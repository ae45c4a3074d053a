"""Other spellings of write-into-reshape, and code that only looks like it."""
import torch

x = torch.zeros(2, 3, 4)
x.permute(0, 2, 1).flatten(1)[:, 0] = 1.0  # trap: write-into-reshape
x.mT.contiguous()[0] = 1.0  # trap: write-into-reshape
swapped = x.transpose(0, 1)
swapped.reshape(-1).fill_(1.0)  # trap: write-into-reshape
swapped.reshape(3, 8)[1] += 1.0  # trap: write-into-reshape

# clean
x.reshape(-1)[3] = 1.0
x.view(-1)[0] = 2.0
x.transpose(0, 1)[0, 1] = 3.0
y = swapped.reshape(-1)
y[0] = 1.0
z = swapped.reshape(-1).clone()
names = {}
names.setdefault("a", [0])[0] = 1
