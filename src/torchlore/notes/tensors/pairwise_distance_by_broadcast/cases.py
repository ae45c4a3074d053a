"""Other spellings of pairwise-distance-by-broadcast, and code that only looks like it."""
import torch


def distances(a, b):
    first = (a.unsqueeze(1) - b.unsqueeze(0)).pow(2).sum(-1).sqrt()  # trap: pairwise-distance-by-broadcast
    diff = a[:, None] - b[None]
    second = torch.sqrt((diff**2).sum(dim=-1))  # trap: pairwise-distance-by-broadcast
    squares = torch.square(a[:, None, :] - b)
    third = torch.sum(squares, dim=2) ** 0.5  # trap: pairwise-distance-by-broadcast
    return first, second, third


# clean
def fine(a, b, eps):
    one = torch.sqrt(((a - b) ** 2).sum(1))
    two = torch.sqrt(((a[:, None] - b) ** 2).sum(-1) + eps)
    three = ((a[:, None] - b) ** 2).sum(-1)
    four = torch.cdist(a, b)
    five = torch.sqrt(((a[:, None] - b) ** 2).sum(-1).clamp_min(1e-12))
    return one, two, three, four, five


def to_one(grid, center, rows, row):
    one = ((grid - center[None, None, :]) ** 2).sum(dim=2) ** 0.5
    two = (rows - row.unsqueeze(0)).pow(2).sum(-1).sqrt()
    return one, two, torch.sqrt(((rows - row[None]) ** 2).sum(1))
