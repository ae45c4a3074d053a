import torch
from torch import nn


def weights_init(m):
    if m.__class__.__name__.find("Conv") != -1:
        m.weight.data.normal_(0.0, 0.02)


def init_network(net):
    for m in net.modules():
        if isinstance(m, nn.Linear):
            nn.init.xavier_uniform_(m.weight)


def freeze_norms(m):
    if isinstance(m, nn.BatchNorm2d):
        m.eval()


def resumed(net, path):
    net.load_state_dict(torch.load(path, map_location="cpu"))
    net.apply(weights_init)  # trap: initialised-after-loading
    return net


def by_function(net, path):
    net.load_state_dict(torch.load(path, map_location="cpu"))
    init_network(net)  # trap: initialised-after-loading
    return net


def either(net, path):
    if path:
        net.load_state_dict(torch.load(path, map_location="cpu"))
    else:
        net.apply(weights_init)
    return net


def in_order(net, path):
    net.apply(weights_init)
    init_network(net)
    net.load_state_dict(torch.load(path, map_location="cpu"))
    net.apply(freeze_norms)
    net.head.apply(weights_init)
    return net


def optional(net, path, scratch):
    if path:
        net.load_state_dict(torch.load(path, map_location="cpu"))
    if scratch:
        net.apply(weights_init)
    return net


def another(make, path):
    net = make()
    net.load_state_dict(torch.load(path, map_location="cpu"))
    first = net
    net = make()
    net.apply(weights_init)
    return first, net


def whenever(net, path):
    if path:
        net.load_state_dict(torch.load(path, map_location="cpu"))
    init_network(net)  # trap: initialised-after-loading
    return net


class Held(nn.Module):
    def __init__(self, trunk, state):
        super().__init__()
        self.trunk = trunk
        self.head = nn.Linear(4, 2)
        if state is not None:
            self.trunk.load_state_dict(state)
        self.apply(self._fill)  # trap: initialised-after-loading

    def _fill(self, m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=0.02)


class Whole(nn.Module):
    def __init__(self, net, state):
        super().__init__()
        self.body = net
        self.body.load_state_dict(state)
        self.init_weights()  # trap: initialised-after-loading

    def init_weights(self):
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, std=0.02)


class HeadOnly(nn.Module):
    def __init__(self, net, state):
        super().__init__()
        self.body, self.head = net, nn.Linear(4, 2)
        self.body.load_state_dict(state)
        self.init_head()
        self.head.apply(weights_init)

    def init_head(self):
        nn.init.normal_(self.head.weight, std=0.02)


def trained_body(path):
    body = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())
    body.load_state_dict(torch.load(path, map_location="cpu"))
    return body


class Tuned(nn.Module):
    def __init__(self, path):
        super().__init__()
        self.body = trained_body(path)
        self.head = nn.Linear(8, 2)
        self.start()
        self.init_layers()  # trap: initialised-after-loading

    def start(self):
        nn.init.zeros_(self.head.bias)

    def init_layers(self):
        for part in self.modules():
            if isinstance(part, nn.Conv2d | nn.Linear):
                nn.init.xavier_normal_(part.weight)


class TunedHead(nn.Module):
    def __init__(self, path):
        super().__init__()
        self.body = trained_body(path)
        self.head = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2))
        self.init_head()

    def init_head(self):
        for part in self.head.modules():
            if isinstance(part, nn.Linear):
                nn.init.xavier_normal_(part.weight)


class Vectors(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.embed, self.out = nn.Embedding(*vectors.shape), nn.Linear(vectors.shape[1], 2)
        self.embed.weight.data.copy_(vectors)
        for p in self.parameters():  # trap: initialised-after-loading
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)


class VectorsLast(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.embed, self.out = nn.Embedding(*vectors.shape), nn.Linear(vectors.shape[1], 2)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)
        self.embed.weight.data.copy_(vectors)


class VectorsSpared(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.embed, self.out = nn.Embedding(*vectors.shape), nn.Linear(vectors.shape[1], 2)
        self.embed.weight.data.copy_(vectors)
        for name, p in self.named_parameters():
            if p.dim() > 1 and not name.startswith("embed"):
                nn.init.xavier_uniform_(p)
