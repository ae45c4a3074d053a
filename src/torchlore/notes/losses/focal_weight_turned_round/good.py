import torch


def focal(p, t, gamma=2.0):
    positive = -t * (1 - p) ** gamma * torch.log(p)
    negative = -(1 - t) * p**gamma * torch.log(1 - p)
    return (positive + negative).mean()


nothing = torch.zeros(1)
wrong, right = focal(torch.full((1,), 0.9), nothing), focal(torch.full((1,), 0.1), nothing)
result = {"wrong_to_right": (wrong / right).item()}
