import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)

    def forward(self, x):
        return self.norm(self.body(x))


def two_lists(net: Net):
    decay, spared = [], []
    for name, p in net.named_parameters():
        if name in ("bias", "norm.weight"):  # trap: no-decay-by-name
            spared.append(p)
        else:
            decay.append(p)
    return torch.optim.AdamW([{"params": decay}, {"params": spared, "weight_decay": 0}])


def by_equality(model):
    return [p for n, p in model.named_parameters() if n != "bias"]  # trap: no-decay-by-name


SPARED = {"bias", "gamma", "beta"}


def grouped(model):
    named = list(model.named_parameters())
    return [{"params": [p for n, p in named if n not in SPARED]}]  # trap: no-decay-by-name


def clean(model, layer):
    no_decay = ["bias", "LayerNorm.weight"]
    a = [p for n, p in model.named_parameters() if not any(word in n for word in no_decay)]
    b = [p for n, p in model.named_parameters() if n.endswith(".bias")]
    c = [p for n, p in model.named_parameters() if n in ("fc.weight", "fc.bias")]
    d = [p for n, p in model.named_parameters() if "bias" in n]
    linear = nn.Linear(2, 2)
    e = [p for n, p in linear.named_parameters() if n == "bias"]
    f = [p for module in model.modules() for n, p in module.named_parameters(recurse=False) if n == "bias"]
    g = [p for n, p in model.named_parameters() if n.split(".")[-1] == "bias"]
    for module in model.modules():
        for n, p in module.named_parameters():
            if n == "bias":
                a.append(p)
    return a, b, c, d, e, f, g, layer


class Pre(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.fc = torch.nn.LayerNorm(4), torch.nn.Linear(4, 4)
        self.norm2 = torch.nn.LayerNorm(4)


def named_otherwise(model=Pre()):
    spared = ["bias", "LayerNorm.weight"]  # trap: no-decay-by-name
    return [p for n, p in model.named_parameters() if any(word in n for word in spared)]


def named_so(model=Pre()):
    spared = ["bias", "norm"]
    return [p for n, p in model.named_parameters() if any(word in n for word in spared)]


class Numbered(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.Tanh())

    def forward(self, x):
        return self.body(x)


def without_norms():
    net = Numbered()
    return [p for name, p in net.named_parameters() if "norm" in name]
