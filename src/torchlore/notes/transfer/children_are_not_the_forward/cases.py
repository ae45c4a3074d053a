from collections import OrderedDict

import torchvision
from torch import nn
from torchvision.models import googlenet, inception_v3, resnet50


def cut_inception():
    net = inception_v3(weights=None)
    return nn.Sequential(*list(net.children())[:-1])  # trap: children-are-not-the-forward


def cut_named():
    net = googlenet(weights=None, init_weights=False)
    parts = list(net.named_children())[:-1]  # trap: children-are-not-the-forward
    return nn.Sequential(OrderedDict(parts))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        vit = torchvision.models.vit_b_16(weights=None)
        self.body = nn.Sequential(*list(vit.children())[:-1])  # trap: children-are-not-the-forward

    def forward(self, x):
        return self.body(x)


def clean(net):
    resnet = resnet50(weights=None)
    a = nn.Sequential(*list(resnet.children())[:-1])
    b = nn.Sequential(*list(net.children())[:-1])
    dense = torchvision.models.densenet121(weights=None)
    names = [name for name, _ in dense.named_children()]
    c = nn.Sequential(*list(dense.features.children())[:-1])
    for child in dense.children():
        child.requires_grad_(False)
    return a, b, c, names


def one_layer_of_it(x):
    net = googlenet(weights=None, init_weights=False)
    last, first = list(net.children())[-1], list(net.children())[0]
    return nn.Sequential(first, nn.Flatten()), last
