"""Other spellings of chained-index-assignment, and code that only looks like it."""
import numpy as np
import torch

x = torch.zeros(4, 4)
x[x > 1][0] = 5.0  # trap: chained-index-assignment
rows = [0, 2]
x[rows][:, 1] = 1.0  # trap: chained-index-assignment
x[[1, 3]][0] += 1.0  # trap: chained-index-assignment
mask = (x > 0) & (x < 3)
x[~mask][0] = 2.0  # trap: chained-index-assignment
array = np.zeros((3, 3))
array[array > 0][1] = 1.0  # trap: chained-index-assignment
order = x[:, 0].argsort()
x[order][0] = 0.0  # trap: chained-index-assignment

x[[1, 3]].fill_(100)  # trap: chained-index-assignment
x[x < 0].abs_()  # trap: chained-index-assignment



def hide(scores: torch.Tensor, lengths, pad_mask, index):
    scores[lengths > 3][:, 0] = 1.0  # trap: chained-index-assignment
    scores[pad_mask].zero_()  # trap: chained-index-assignment
    scores[pad_mask][0] = 1.0  # trap: chained-index-assignment
    scores[index].zero_()
    return scores


# clean
x[1:3].fill_(1.0)
x[0].abs_()
x[0][1] = 1.0
x[1:3][0] = 1.0
x[mask] = 1.0
x[rows, 1] = 1.0
for i in torch.arange(4):
    x[i][0] = 1.0
table = {"a": [1, 2]}
table["a"][0] = 3
grid = [[0] * 3 for _ in range(3)]
grid[1][2] = 1
