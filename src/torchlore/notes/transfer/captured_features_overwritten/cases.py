import torch
from torch import nn
from torchvision import models

net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 2), nn.SiLU())
resnet = models.resnet18(weights=None)
kept, means, shapes = {}, [], []


def keep(name):
    def hook(module, args, output):
        kept[name] = output  # trap: captured-features-overwritten

    return hook


def collect(module, args, output):
    means.append(output)  # trap: captured-features-overwritten


def mean(module, args, output):
    means.append(output.mean())


def shape(module, args, output):
    shapes.append(output.shape)


def copy(module, args, output):
    kept["copy"] = output.detach().cpu().clone()


class Watcher:
    def hook(self, module, args, output):
        self.output = output


def last(module, args, output):
    kept["last"] = output


net[0].register_forward_hook(keep("first"))
resnet.bn1.register_forward_hook(collect)
net[0].register_forward_hook(mean)
net[0].register_forward_hook(shape)
net[0].register_forward_hook(copy)
net[2].register_forward_hook(last)  # SiLU follows, not in place
resnet.layer4.register_forward_hook(last)
