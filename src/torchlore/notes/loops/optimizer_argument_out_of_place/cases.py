from torch import optim


class Poly(optim.SGD):
    def __init__(self, params, lr, weight_decay, steps, momentum=0.9):
        super().__init__(params, lr, weight_decay)  # trap: optimizer-argument-out-of-place
        self.steps, self.power = steps, momentum


class PolyRight(optim.SGD):
    def __init__(self, params, lr, weight_decay, steps, momentum=0.9):
        super().__init__(params, lr, momentum, weight_decay=weight_decay)
        self.steps = steps


def built(net, args, cfg, WD):
    first = optim.SGD(net.parameters(), args.lr, args.weight_decay, args.momentum)  # trap: optimizer-argument-out-of-place
    second = optim.Adagrad(net.parameters(), cfg["lr"], cfg["weight_decay"])  # trap: optimizer-argument-out-of-place
    third = optim.RMSprop(net.parameters(), args.lr, args.momentum)  # trap: optimizer-argument-out-of-place
    fourth = optim.SGD(net.parameters(), args.lr, args.momentum, 0.0, WD)
    fifth = optim.SGD(net.parameters(), args.lr, 0.9)
    sixth = optim.SGD(net.parameters(), args.lr, args.mom, weight_decay=WD)
    return first, second, third, fourth, fifth, sixth, optim.Adagrad(net.parameters(), 0.1, 0.0, WD)


WEIGHT_DECAY = 5e-4


def constants(net):
    return optim.SGD(net.parameters(), 0.1, WEIGHT_DECAY)  # trap: optimizer-argument-out-of-place
