import torch


def focal(p, t, alpha=0.75, gamma=2.0):
    positive = -alpha * t * (1 - p) ** gamma * torch.log(p)
    negative = -(1 - alpha) * (1 - t) * p**gamma * torch.log(1 - p)
    return (positive + negative).mean()


half = torch.full((1,), 0.5)
rare, common = focal(half, torch.ones(1)), focal(half, torch.zeros(1))
result = {"ratio": (rare / common).item()}
