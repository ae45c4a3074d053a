"""Other spellings of timing-without-sync, and code that only looks like it."""
import time
from time import perf_counter

import torch
from torch import nn


def bench(x):
    model = nn.Linear(8, 8).cuda()
    start = time.time()
    for _ in range(10):
        model(x)
    return time.time() - start  # trap: timing-without-sync


def product():
    device = torch.device("cuda:0")
    a = torch.rand(64, 64).to(device)
    t0 = perf_counter()
    b = torch.mm(a, a)
    t1 = perf_counter() - t0  # trap: timing-without-sync
    return b, t1


def inference(images):
    net = nn.Conv2d(3, 3, 3).to("cuda")
    begin = time.perf_counter()
    with torch.no_grad():
        out = net(images)
    print("took", time.perf_counter() - begin)  # trap: timing-without-sync
    return out


# clean
def synced(x):
    model = nn.Linear(8, 8).cuda()
    torch.cuda.synchronize()
    start = time.time()
    model(x)
    torch.cuda.synchronize()
    print(time.time() - start)
    start = time.time()
    total = model(x).sum().item()
    print(time.time() - start, total)
    cpu = nn.Linear(8, 8)
    start = time.time()
    cpu(x)
    return time.time() - start


def epoch(loader):
    model = nn.Linear(8, 8).cuda()
    start = time.time()
    for x in loader:
        model(x.cuda())
    return time.time() - start


def boxes(scores):
    return torch.nonzero(scores > 0.5)


def demo(frames):
    model = nn.Linear(8, 8).cuda()
    start = time.time()
    for count, frame in enumerate(frames, 1):
        found = boxes(model(frame))
        print(count / (time.time() - start), len(found))
