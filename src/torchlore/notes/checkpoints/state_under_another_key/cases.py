import torch
from torch import nn


def save(path, net: nn.Module, optimizer, scheduler, epoch):
    state = {
        "model": net.state_dict(),
        "optimizer": net.state_dict(),  # trap: state-under-another-key
        "lr_scheduler": optimizer.state_dict(),  # trap: state-under-another-key
        "epoch": epoch,
    }
    torch.save(state, path)


def load(path, net, optimizer, lr_scheduler):
    state = torch.load(path, map_location="cpu", weights_only=True)
    net.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    lr_scheduler.load_state_dict(state["model"])  # trap: state-under-another-key
    return state["epoch"]


def right(path, model, ema, optimizer, scheduler):
    torch.save(
        {
            "state_dict": model.state_dict(),
            "ema_state_dict": ema.state_dict(),
            "best": model.state_dict(),
            "optim": optimizer.state_dict(),
            "optim_and_model": [optimizer.state_dict(), model.state_dict()],
            "scheduler": scheduler.state_dict(),
        },
        path,
    )
    state = torch.load(path, map_location="cpu", weights_only=True)
    scheduler.load_state_dict(state["scheduler"])
    scheduler.load_state_dict(state["extra"]["lr"])
