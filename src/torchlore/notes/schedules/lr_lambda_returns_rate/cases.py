import torch
from torch.optim.lr_scheduler import LambdaLR


def bad(model, args, cfg):
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9)
    first = LambdaLR(optimizer, lambda x: args.lr * (1.0 + args.gamma * float(x)) ** (-args.decay))  # trap: lr-lambda-returns-rate

    def rule(step):
        if step < cfg.warm:
            return (step + 1) / cfg.warm
        return cfg.lr * 0.99**step  # trap: lr-lambda-returns-rate

    other = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    second = LambdaLR(other, rule)
    constant = LambdaLR(other, lambda epoch: cfg.lr)  # trap: lr-lambda-returns-rate
    return first, second, constant


def fine(model, args, lr, low):
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    first = LambdaLR(optimizer, lambda x: (1.0 + args.gamma * x) ** (-args.decay))
    second = LambdaLR(optimizer, lambda x: max(low / args.lr, 0.9**x))
    third = LambdaLR(torch.optim.SGD(model.parameters(), lr=1.0), lambda x: lr * 0.9**x)
    fourth = LambdaLR(optimizer, lambda x: low * 0.9**x / args.lr)
    return first, second, third, fourth


def by_number(model):
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    wrong = LambdaLR(optimizer, lambda e: 1e-3 * min(1, e / 10))  # trap: lr-lambda-returns-rate
    half = LambdaLR(optimizer, lambda e: 0.5 * min(1, e / 10))
    low = LambdaLR(optimizer, lambda e: max(1e-3, 0.9**e))
    return wrong, half, low


def grouped(model, args):
    optimizer = torch.optim.SGD(model.get_parameters(), args.lr)  # its groups have rates of their own
    return LambdaLR(optimizer, lambda x: args.lr * 0.9**x)


def built_elsewhere(optimizer, lr):
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: lr * 0.9**epoch)  # trap: lr-lambda-returns-rate


def builds(model, lr):
    return built_elsewhere(torch.optim.SGD(model.parameters(), lr=lr), lr)


def ramp(base_lr, warm):
    def rate(step):
        factor = min(1.0, (step + 1) / warm)
        return base_lr * factor  # trap: lr-lambda-returns-rate

    return rate


def share(warm):
    return lambda step: min(1.0, (step + 1) / warm)


def made_by_a_function(model, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    return LambdaLR(optimizer, ramp(lr, 50)), LambdaLR(optimizer, share(50))


def with_a_floor(model, lr):
    def rate(epoch):
        now = lr * 0.9**epoch
        return max(now, 1e-6)  # trap: lr-lambda-returns-rate

    def fine(epoch):
        now = 0.9**epoch
        return max(now, 1e-6 / lr)

    low = lr * 0.01

    def share(epoch):
        return max(low / lr, 0.9**epoch)

    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    return LambdaLR(optimizer, rate), LambdaLR(optimizer, fine), LambdaLR(optimizer, share)


class Kept:
    def __init__(self, net, base_lr, cfg):
        self.base_lr, self.warm = base_lr, cfg.warm
        self.cfg = cfg
        self.optimizer = torch.optim.Adam(net.parameters(), lr=base_lr)
        self.scheduler = LambdaLR(self.optimizer, lr_lambda=self.rate_at)
        self.other = LambdaLR(self.optimizer, self.factor_at)
        self.third = LambdaLR(torch.optim.SGD(net.parameters(), lr=cfg.lr), lambda step: self.by_config(step))
        self.fourth = LambdaLR(torch.optim.SGD(net.parameters(), lr=cfg.lr), lambda step: decayed(step, cfg.lr))

    def rate_at(self, step):
        if step < self.warm:
            rate = self.base_lr * step / self.warm
        else:
            rate = self.base_lr * 0.99 ** (step - self.warm)
        return rate  # trap: lr-lambda-returns-rate

    def factor_at(self, step):
        rate = self.base_lr * 0.99**step
        return rate / self.base_lr

    def by_config(self, step):
        return self.cfg.lr * 0.5 ** (step // 30)  # trap: lr-lambda-returns-rate


def decayed(step, start):
    return start * 0.5 ** (step // 30)  # trap: lr-lambda-returns-rate
