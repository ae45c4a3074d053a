import torch
from torch import load


def wrong(path, url):
    a = torch.load(path, weights_only=False, map_location="cpu")  # trap: unsafe-torch-load
    b = load(path, "cpu", weights_only=False)["model"]  # trap: unsafe-torch-load
    c = torch.hub.load_state_dict_from_url(url, weights_only=False)  # trap: unsafe-torch-load
    return a, b, c


def clean(path, flag, other):
    a = torch.load(path, map_location="cpu")
    b = torch.load(path, map_location="cpu", weights_only=True)
    c = torch.load(path, map_location="cpu", weights_only=flag)
    d = other.load(path, weights_only=False)
    return a, b, c, d


def remembered(cache_path):
    return torch.load(cache_path, map_location="cpu", weights_only=False)  # trap: unsafe-torch-load
