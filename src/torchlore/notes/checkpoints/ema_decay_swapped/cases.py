import torch


@torch.no_grad()
def wrong(slow, net, decay=0.999):
    for a, b in zip(slow.parameters(), net.parameters(), strict=True):
        a.data = (1 - decay) * a.data + decay * b.data  # trap: ema-decay-swapped
    for a, b in zip(slow.parameters(), net.parameters(), strict=True):
        a.data.copy_(0.005 * a.data + 0.995 * b.data)  # trap: ema-decay-swapped
    for b, a in zip(net.parameters(), slow.parameters(), strict=True):
        a.lerp_(b, 0.99)  # trap: ema-decay-swapped
    for (_, a), (_, b) in zip(slow.named_parameters(), net.named_parameters(), strict=True):
        a.mul_(1 - decay).add_(decay * b.detach())  # trap: ema-decay-swapped


@torch.no_grad()
def right(slow, net, unknown, decay=0.999, tau=0.005):
    for a, b in zip(slow.parameters(), net.parameters(), strict=True):
        a.data = decay * a.data + (1 - decay) * b.data
    for a, b in zip(slow.parameters(), net.parameters(), strict=True):
        a.data.copy_(tau * b.data + (1.0 - tau) * a.data)
    for a, b in zip(slow.parameters(), net.parameters(), strict=True):
        a.mul_(decay).add_(b, alpha=1 - decay)
    for a, b in zip(slow.parameters(), net.parameters(), strict=True):
        a.lerp_(b, 1 - decay)
    for a, b in zip(slow.parameters(), net.parameters(), strict=True):
        a.data.copy_(b.data)
    for a, b in zip(slow.parameters(), net.parameters(), strict=True):
        a.data = unknown * a.data + (1 - unknown) * b.data
