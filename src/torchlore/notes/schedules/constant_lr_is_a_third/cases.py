from torch.optim import lr_scheduler


def choose(kind, optimizer):
    if kind == "constant":
        return lr_scheduler.ConstantLR(optimizer)  # trap: constant-lr-is-a-third
    if kind == "warm":
        return lr_scheduler.ConstantLR(optimizer, 0.1, 500)
    return lr_scheduler.ConstantLR(optimizer, total_iters=10)


def warmed(optimizer):
    warmup = lr_scheduler.ConstantLR(optimizer)
    return warmup
