import torch
from torch import nn


class conv_block(nn.Module):
    pass


def wrong(m):
    if "batchnorm" in type(m).__name__:  # trap: layer-name-never-matches
        nn.init.ones_(m.weight)
    elif type(m).__name__ == "Conv2D":  # trap: layer-name-never-matches
        nn.init.zeros_(m.bias)
    name = m.__class__.__name__.lower()
    if "Linear" in name:  # trap: layer-name-never-matches
        nn.init.zeros_(m.bias)
    if m.__class__.__name__.startswith("linear"):  # trap: layer-name-never-matches
        nn.init.zeros_(m.bias)


def right(m, name, optimizer):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1 or "linear" in classname.lower() or "Norm" in classname:
        nn.init.zeros_(m.bias)
    if "conv" in name or name.find("batchnorm") != -1:
        nn.init.zeros_(m.bias)
    if classname == "Linear" or "conv_block" in classname or "adam" in type(optimizer).__name__.lower():
        nn.init.zeros_(m.bias)


def own_blocks(m):
    name = m.__class__.__name__
    if name.find("Conv1DResBlock") != -1 or "DenseBlock" in name:
        nn.init.zeros_(m.scale)
    if name.find("Conv1D") != -1:  # trap: layer-name-never-matches
        nn.init.zeros_(m.bias)


class Style(nn.Module):
    def __init__(self):
        super().__init__()
        self.feat = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())
        self.head = nn.Linear(8, 2)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.head(self.feat(x).mean((2, 3))) * self.scale


style = Style()
for name, p in style.named_parameters():
    if name == "feat":  # trap: layer-name-never-matches
        p.requires_grad = False
    if name in ["feat", "head"]:  # trap: layer-name-never-matches
        p.requires_grad = False
    if name == "scale" or name == "head.weight" or name.startswith("feat"):
        p.requires_grad = False
