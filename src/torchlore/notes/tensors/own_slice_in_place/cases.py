"""Other spellings of own-slice-in-place, and code that only looks like it."""

import numpy as np
import torch


def prices(days=torch.rand(8, 12)):
    days /= days[:, :1]  # trap: own-slice-in-place
    return days


def boxes():
    table = torch.rand(10, 4)
    table[:, :2] -= table[:, 0:1]  # trap: own-slice-in-place
    table -= table[:, 0, None]  # trap: own-slice-in-place
    return table


class Poses:
    def __init__(self):
        self.poses = torch.zeros(100, 17, 3)
        self.poses -= self.poses[..., 2:3]  # trap: own-slice-in-place


# clean
def copied():
    table, array = torch.rand(10, 4), np.zeros((10, 4))
    table -= table[:, :1].clone()
    table = table - table[:, :1]
    table -= table[:, -1:]
    array -= array[:, :1]
    table[:, 2:] -= table[:, :2]
    table[:, 1] -= table[:, 0]
    table[:, 1:] -= table[:, :1]
    table[1:] -= table[:1]
    return table, array


def unknown(pose):
    pose -= pose[:, :1]
    return pose
