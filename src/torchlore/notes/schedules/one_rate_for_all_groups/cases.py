import torch


class Trainer:
    def __init__(self, net, rate):
        self.base = rate
        groups = [dict(params=net.body.parameters(), lr=rate * 0.1), {"params": net.head.parameters()}]
        self.opt = torch.optim.AdamW(groups, lr=rate)

    def warm(self, step):
        if step < 100:
            for g in self.opt.param_groups:
                g["lr"] = self.base * (step + 1) / 100  # trap: one-rate-for-all-groups


def same_rate(net, rates):
    opt = torch.optim.SGD([{"params": net.a.parameters(), "weight_decay": 0.0}, {"params": net.b.parameters()}], lr=0.1)
    for rate in rates:
        for group in opt.param_groups:
            group["lr"] = rate


def scaled(net, rates):
    opt = torch.optim.SGD([{"params": net.a.parameters(), "lr": 0.1, "scale": 1.0},
                           {"params": net.b.parameters(), "lr": 1.0, "scale": 10.0}])  # fmt: skip
    for rate in rates:
        for group in opt.param_groups:
            group["lr"] = rate * group["scale"]
        for group in opt.param_groups:
            first = group.get("scale")
            group["lr"] = rate * first
        for group, mine in zip(opt.param_groups, (0.1, 1.0), strict=True):
            group["lr"] = rate * mine


def chosen(net, rates):
    opt = torch.optim.SGD([{"params": net.a.parameters(), "lr": 0.1}, {"params": net.b.parameters(), "lr": 1.0}])
    for rate in rates:
        for group in opt.param_groups:
            if group["lr"] > rate:
                group["lr"] = rate
    for group in opt.param_groups:
        group["lr"] = 0.0


def given(opt, rate):
    for group in opt.param_groups:
        group["lr"] = rate
