import torch


def three(epoch):
    if epoch <= 10:  # trap: lr-ladder-runs-out
        lr = 0.1
    elif epoch <= 20:
        lr = 0.01
    return lr


def adjust(optimizer, step):
    if step < 1000:  # trap: lr-ladder-runs-out
        new_lr = step / 1000
    elif step < 5000:
        new_lr = 1.0
    elif step < 9000:
        new_lr = 0.1
    for group in optimizer.param_groups:
        group["lr"] = new_lr


class Schedule:
    def rate(self, ep):
        if ep < 5:  # trap: lr-ladder-runs-out
            learning_rate = 0.1
        elif ep < 9:
            learning_rate = 0.01
        return torch.tensor(learning_rate)


def with_default(epoch, lr=0.1):
    if epoch > 10:
        lr = 0.01
    elif epoch > 20:
        lr = 0.001
    return lr


def bound_before(epoch):
    lr = 0.1
    if epoch > 10:
        lr = 0.01
    elif epoch > 20:
        lr = 0.001
    return lr


def complete(epoch):
    if epoch < 10:
        lr = 0.1
    elif epoch < 20:
        lr = 0.01
    else:
        lr = 0.001
    return lr


def not_read(epoch):
    if epoch < 10:
        lr = 0.1
        print(lr)
    elif epoch < 20:
        lr = 0.01
        print(lr)


def about_something_else(kind):
    if kind == 1:
        lr = 0.1
    elif kind == 2:
        lr = 0.01
    return lr
