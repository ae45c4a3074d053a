import torch
from accelerate import Accelerator
from torch.nn import functional as F


def plain(args, model, optimizer, loader):
    acc = Accelerator(gradient_accumulation_steps=args.accumulation, log_with="tensorboard")
    model, optimizer, loader = acc.prepare(model, optimizer, loader)
    for _ in range(args.epochs):
        for x, y in loader:
            acc.backward(F.mse_loss(model(x), y))  # trap: accumulate-never-entered
            optimizer.step()
            optimizer.zero_grad()


def by_hand(args, model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulation)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for i, (x, y) in enumerate(loader):
        accelerator.backward(F.mse_loss(model(x), y))
        if (i + 1) % args.accumulation == 0:
            optimizer.step()
            optimizer.zero_grad()


def once(model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        accelerator.backward(F.mse_loss(model(x), y))
        optimizer.step()
        optimizer.zero_grad()


def trial(args):
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulation)
    accelerator.print(torch.__version__)
