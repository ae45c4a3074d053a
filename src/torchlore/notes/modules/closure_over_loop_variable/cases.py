import functools

import torch
from torch import nn
from torchvision import transforms


def collect(net, names):
    kept = {}
    for name in names:
        layer = getattr(net, name)

        def hook(module, inputs, output):  # trap: closure-over-loop-variable
            kept[name] = output.detach()

        layer.register_forward_hook(hook)
    return kept


def gradients(net):
    norms = {}
    for name, p in net.named_parameters():
        p.register_hook(lambda grad: norms.update({name: grad.norm()}))  # trap: closure-over-loop-variable
    return norms


def schedules(optimizer, rates):
    every = [lambda epoch: rate**epoch for rate in rates]  # trap: closure-over-loop-variable
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=every)


def turns(angles):
    found = []
    for angle in angles:
        found.append(transforms.Lambda(lambda img: img.rotate(angle)))  # trap: closure-over-loop-variable
    return found


def by_name(heads):
    table = {}
    for name, head in heads.items():
        table[name] = lambda x: head(x)  # trap: closure-over-loop-variable
    return table


# clean
def bound(net, names, angles, rates):
    kept, found = {}, []
    for name in names:
        getattr(net, name).register_forward_hook(lambda m, i, o, name=name: kept.update({name: o}))
        getattr(net, name).register_forward_hook(functools.partial(keep, kept, name))
        getattr(net, name).register_forward_hook(lambda m, i, o: kept.update({m: o}))
    for angle in angles:
        found.append(lambda img, angle=angle: img.rotate(angle))
    return found, [lambda epoch, rate=rate: rate**epoch for rate in rates]


def keep(kept, name, module, inputs, output):
    kept[name] = output


def in_turn(net, names, x, queue):
    seen = {}
    for name in names:
        handle = getattr(net, name).register_forward_hook(lambda m, i, o: seen.update({name: o}))
        net(x)
        handle.remove()
    for name in names:
        with getattr(net, name).register_forward_hook(lambda m, i, o: seen.update({name: o})):
            net(x)
    for step in range(3):
        out = net(x)
        out.register_hook(lambda g: print(step, g.norm()))
        out.sum().backward()
    for job in names:
        queue.append(lambda: print(job))
        queue.pop()()
    return [sorted(names, key=lambda one: one == name) for name in names], nn.Identity()


def first(net, names):
    for name in names:
        if hasattr(net, name):
            net.register_forward_hook(lambda m, i, o: print(name))
            break
