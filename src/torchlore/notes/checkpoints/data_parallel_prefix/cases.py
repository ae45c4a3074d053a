import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def with_ddp(path, rank):
    model = DDP(nn.Linear(2, 2).to(rank), device_ids=[rank])
    torch.save(model.state_dict(), path)  # trap: data-parallel-prefix


def compiled(path, epoch):
    net = torch.compile(nn.Linear(2, 2))
    checkpoint = {"epoch": epoch, "model": net.state_dict()}  # trap: data-parallel-prefix
    torch.save(checkpoint, path)


class Trainer:
    def __init__(self, rank):
        self.model = DDP(nn.Linear(2, 2), device_ids=[rank])

    def save(self, path):
        torch.save({"model": self.model.state_dict()}, path)  # trap: data-parallel-prefix


def clean(path, model, rank):
    wrapped = DDP(nn.Linear(2, 2), device_ids=[rank])
    torch.save(wrapped.module.state_dict(), path)
    torch.save(model.state_dict(), path)
    bare = nn.Linear(2, 2)
    fast = torch.compile(bare)
    fast(torch.zeros(1, 2))
    torch.save(bare.state_dict(), path)
    names = list(wrapped.state_dict())
    return names


def usual_idiom(path, distributed, rank):
    model = nn.Linear(2, 2)
    without_ddp = model
    if distributed:
        model = DDP(model, device_ids=[rank])
        without_ddp = model.module
    torch.save(without_ddp.state_dict(), path)


def letters(state):
    wrong = {name.lstrip("backbone."): value for name, value in state.items()}  # trap: data-parallel-prefix
    right = {name.removeprefix("backbone."): value for name, value in state.items()}
    return wrong, right, "x...".rstrip("."), "  text".lstrip(" .")
