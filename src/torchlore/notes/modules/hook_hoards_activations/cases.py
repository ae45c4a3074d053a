import collections

import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
kept, store, cleared, norms = [], collections.defaultdict(list), [], []


def watch(name):
    def hook(module, args, out):
        store[name].append(out)  # trap: hook-hoards-activations

    return hook


def simple(module, inputs, output):
    kept.append(output)  # trap: hook-hoards-activations


def each_step(module, inputs, output):
    cleared.append(output)


def number(module, inputs, output):
    norms.append(output.detach().norm().item())
    features["last"] = output


def not_a_hook(a, b, c):
    kept.append(c)


features = {}
model[0].register_forward_hook(watch("fc"))
model[0].register_forward_hook(simple)
model[1].register_forward_hook(lambda module, inputs, output: norms.append(output))  # trap: hook-hoards-activations
model[1].register_forward_hook(each_step)
model[1].register_forward_hook(number)
for _ in range(3):
    cleared.clear()
    model(torch.ones(1, 2)).sum().backward()


class Probe:
    def __init__(self, layer):
        self.kept, self.numbers = [], []
        layer.register_forward_hook(self.whole)
        layer.register_forward_hook(self.cut)

    def whole(self, module, inputs, output):
        self.kept.append(output)  # trap: hook-hoards-activations

    def cut(self, module, inputs, output):
        self.numbers.append(output.detach().mean())


class GuidedBackprop:
    def __init__(self, layer):
        self.outputs = []
        layer.register_forward_hook(self.keep)
        layer.register_full_backward_hook(self.use)

    def keep(self, module, given, output):
        self.outputs.append(output)

    def use(self, module, grad_in, grad_out):
        last = self.outputs[-1]
        del self.outputs[-1]
        return (last * grad_in[0],)


def each_time(net, x, out):
    net.body.register_forward_hook(lambda m, i, o: out.update(body=o.detach()))  # trap: hook-hoards-activations
    net(x)
    return out["body"]


def each_step(net, batches, out):
    for x in batches:
        net.body.register_forward_hook(lambda m, i, o: out.update(body=o.detach()))  # trap: hook-hoards-activations
        net(x)
        print(each_time(net, x, out))


# clean
def once(net, batches, out):
    for module in net.modules():
        module.register_forward_hook(lambda m, i, o: out.update(last=o.detach()))
    for x in batches:
        handle = net.body.register_forward_hook(lambda m, i, o: out.update(body=o.detach()))
        net(x)
        handle.remove()


def attach(net, out):
    net.body.register_forward_hook(lambda m, i, o: out.update(body=o.detach()))


def every_net(names, make, out):
    for name in names:
        net = make(name)
        attach(net, out)
        net.head.register_forward_hook(lambda m, i, o: out.update(head=o.detach()))



class Stats:
    def __init__(self, model, places, hooks):
        self.model = model
        for place, hook in zip(places, hooks, strict=True):
            self.add(place, hook)

    def add(self, place, hook):
        for name, module in self.model.named_modules():
            if name == place:
                module.register_forward_hook(hook)
