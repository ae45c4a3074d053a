import torch
from torch import load, nn


def wrong(path, model: nn.Module):
    model.load_state_dict(torch.load(path, weights_only=True))  # trap: load-without-map-location
    state = load(path)  # trap: load-without-map-location
    with open(path, "rb") as file:
        more = torch.load(file, weights_only=True, mmap=False)  # trap: load-without-map-location
    return state, more


def clean(path, options, device, json):
    a = torch.load(path, "cpu", weights_only=True)
    b = torch.load(path, map_location=device, weights_only=True)
    c = torch.load(path, **options)
    d = json.load(path)
    e = torch.jit.load(path)
    return a, b, c, d, e
