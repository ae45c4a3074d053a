"""Other spellings of nan-compare, and code that only looks like it."""
import math

import numpy as np
import torch
from numpy import nan


def check(loss: torch.Tensor, array, total):
    if loss.item() == np.nan:  # trap: nan-compare
        raise ValueError("diverged")
    bad = array == nan  # trap: nan-compare
    if float("nan") != total:  # trap: nan-compare
        print(total)
    mask = torch.ones(3) == torch.nan  # trap: nan-compare
    value = loss.item()
    return value is math.nan, bad, mask  # trap: nan-compare


# clean
def fine(x, fill=np.nan):
    if fill is np.nan:
        fill = 0.0
    return torch.isnan(x), x != x, math.isnan(float("nan")), x == float("inf"), np.full(3, np.nan), fill
