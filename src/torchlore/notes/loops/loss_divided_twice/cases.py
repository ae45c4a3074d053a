import torch
from accelerate import Accelerator
from torch.nn import functional as F


def by_name(args, model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=args.gradient_accumulation_steps)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = F.mse_loss(model(x), y)
            loss = loss / args.gradient_accumulation_steps  # trap: loss-divided-twice
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()


def in_place(steps, model, optimizer, loader):
    acc = Accelerator(gradient_accumulation_steps=steps)
    model, optimizer, loader = acc.prepare(model, optimizer, loader)
    for x, y in loader:
        with acc.accumulate(model):
            loss = F.mse_loss(model(x), y)
            loss /= acc.gradient_accumulation_steps  # trap: loss-divided-twice
            acc.backward(loss)
            optimizer.step()
            optimizer.zero_grad()


def by_hand(args, model, optimizer, loader):
    accelerator = Accelerator(mixed_precision=args.precision)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for i, (x, y) in enumerate(loader):
        loss = F.mse_loss(model(x), y) / args.gradient_accumulation_steps
        accelerator.backward(loss)
        if (i + 1) % args.gradient_accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()


def by_size(steps, model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=steps)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = F.mse_loss(model(x), y, reduction="sum") / len(x)
            accelerator.backward(loss)
            accelerator.print(loss.item() / steps, torch.is_grad_enabled())
            optimizer.step()
            optimizer.zero_grad()
