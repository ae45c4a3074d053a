"""What `lore watch` costs a step: plain and watched blocks alternate in one process, low percentile of the steps.

    python bench/watch_overhead.py                   # small MLP, small CNN; --all adds ResNet-18 and detect_anomaly
    python bench/watch_overhead.py --device cuda     # small CNN and ResNet-50 in bfloat16, channels last

On the CPU a step is thread CPU time, on a GPU wall time up to the loss on the host. The always-on tier is what remains
once the first steps are over; `close` is every step looked at by every sentinel, which the pace allows for few.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import statistics
import time

import torch
from torch import nn
from torch.optim import optimizer as optimizers
from torch.utils.data import DataLoader, TensorDataset

from torchlore.catalogue import parts
from torchlore.watch.probes import install
from torchlore.watch.session import Options, Watcher, sentinels_of


def mlp():
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    return net, TensorDataset(torch.randn(64 * 40, 64), torch.randint(0, 10, (64 * 40,))), 64


def cnn():
    layers = [nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)]
    layers += [nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    net = nn.Sequential(*layers, nn.Linear(32, 10))
    return net, TensorDataset(torch.randn(32 * 10, 3, 32, 32), torch.randint(0, 10, (320,))), 32


def resnet18():
    import torchvision

    net = torchvision.models.resnet18(num_classes=10)
    return net, TensorDataset(torch.randn(8 * 3, 3, 64, 64), torch.randint(0, 10, (24,))), 8


def resnet50():
    import torchvision

    net = torchvision.models.resnet50(num_classes=10).to(memory_format=torch.channels_last)
    return net, TensorDataset(torch.randn(128 * 8, 3, 224, 224), torch.randint(0, 10, (1024,))), 128


def blocks(make, repeats, modes, device):
    """Nanoseconds of every step, by mode; the modes take turns, block by block of half a second or an epoch."""
    torch.manual_seed(0)
    net, data, size = make()
    net.to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    loader = DataLoader(data, batch_size=size)
    if device != "cpu":
        loader = list(zip(*(one.to(device).split(size) for one in data.tensors), strict=True))
    epoch(net, optimizer, loader, device)
    turns = max(1, round(5e8 / sum(epoch(net, optimizer, loader, device))))
    times = {name: [] for name, _ in modes}
    for _ in range(repeats):
        for name, mode in modes:
            with mode():
                found = [one for _ in range(turns) for one in epoch(net, optimizer, loader, device)]
                times[name] += found[len(found) // 2 :]  # after a patch Python is slow for a while
    return times


def epoch(net, optimizer, loader, device):
    clock = time.thread_time_ns if device == "cpu" else time.perf_counter_ns
    found, last = [], clock()
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast(device, torch.bfloat16, enabled=device != "cpu" and x.shape[-1] == 224):
            loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        loss.item()
        now = clock()
        found.append(now - last)
        last = now
    return found


@contextlib.contextmanager
def always_on():
    """Only the probes that never sleep."""
    watcher = Watcher([], Options(deep=False))
    undo = install(watcher)
    watcher.pace.rest, watcher.pace.woken = 1 << 60, lambda: False
    watcher.close()
    yield
    undo()


@contextlib.contextmanager
def looking_closely():
    """Every step looked at by every sentinel."""
    watcher = Watcher(sentinels_of(parts("watch")), Options(deep=False))
    undo = install(watcher)
    watcher.pace.left = 1 << 60
    yield
    undo()


def low(values):
    """The 10th percentile: what a step costs when nobody else wants the core."""
    return sorted(values)[len(values) // 10]


def best(call, number=300, repeats=300):
    """Microseconds of thread CPU time a call, the lowest of many repeats."""
    found = []
    for _ in range(repeats):
        start = time.thread_time_ns()
        for _ in range(number):
            call()
        found.append((time.thread_time_ns() - start) / number)
    return min(found) / 1e3


def micro():
    """What the probes that never sleep add to the calls they sit on; everything else is untouched while nobody looks."""
    net, x, y = nn.Linear(4, 4), torch.randn(2, 4), torch.tensor([1, 2])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward(retain_graph=True)
    calls = {
        "optimizer.step": optimizer.step,
        "zero_grad": optimizer.zero_grad,
        "module call": lambda: net(x),
        "cross_entropy": lambda: nn.functional.cross_entropy(x, y),
        "backward": lambda: loss.backward(retain_graph=True),
    }
    plain = {name: best(call) for name, call in calls.items()}
    with always_on():
        extra = {name: best(call) - plain[name] for name, call in calls.items()}
    for name, value in extra.items():
        print(f"  {name:16}{plain[name]:8.2f} us {value:+8.2f}")
    print(f"  always-on tier, call by call: {sum(max(0.0, value) for value in extra.values()):.1f} us a step")


def in_place(steps=6000):
    """Microseconds the probes take where they stand: between the matrix products of a step, their code out of the caches.

    At every step one of them is called once more, around a function that does nothing, and timed.
    """
    net, data, size = mlp()
    optimizer, loader = torch.optim.SGD(net.parameters(), lr=0.01), DataLoader(data, batch_size=size)
    batches = itertools.cycle(list(loader))
    real, torch.autograd.backward = torch.autograd.backward, lambda *_, **__: None
    with always_on():
        light, torch.autograd.backward = torch.autograd.backward, real
        before = [*optimizers._global_optimizer_pre_hooks.values()][-1]  # noqa: SLF001 - no public list of hooks
        after = [*optimizers._global_optimizer_post_hooks.values()][-1]  # noqa: SLF001 - see above
        given = (optimizer, (optimizer,), {})
        calls = {"nothing": lambda _: None, "backward": light, "before a step": lambda _: before(*given)}
        calls["after a step"] = lambda _: after(*given)
        found = {name: [] for name in calls}
        for name, (x, y) in zip(itertools.islice(itertools.cycle(calls), steps), batches, strict=False):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            found[name].append(timed(calls[name], loss))
            loss.backward()
            optimizer.step()
        torch.autograd.backward = light  # as it was put there, so that it is taken off again
    torch.autograd.backward = real
    least = statistics.median(found.pop("nothing"))
    extra = {name: (statistics.median(values) - least) / 1e3 for name, values in found.items()}
    for name, value in extra.items():
        print(f"  {name:16}{value:+8.2f} us")
    print(f"  always-on tier, in place: {sum(max(0.0, value) for value in extra.values()):.1f} us a step")


def timed(call, loss):
    start = time.perf_counter_ns()
    call(loss)
    return time.perf_counter_ns() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    args = parser.parse_args()
    torch.set_num_threads(1)
    micro()
    in_place()
    modes = [
        ("plain", contextlib.nullcontext),
        ("again", contextlib.nullcontext),
        ("always-on", always_on),
        ("close", looking_closely),
    ]
    if args.all:
        modes.append(("detect_anomaly", lambda: torch.autograd.set_detect_anomaly(True)))
    print(f"{'loop':10}{'plain us':>10}{'control':>10}" + "".join(f"{name:>24}" for name, _ in modes[2:]))
    loops = (mlp, cnn, *([resnet18] if args.all else [])) if args.device == "cpu" else (cnn, resnet50)
    for make in loops:
        times = blocks(make, args.repeats, modes, args.device)
        base = low(times["plain"]) / 1e3
        row = [(low(times[name]) - low(times["plain"])) / 1e3 for name, _ in modes[1:]]
        cells = "".join(f"{extra:>+14.1f} us{100 * extra / base:>+6.2f}%" for extra in row[1:])
        print(
            f"{make.__name__:10}{base:>10.0f}{row[0]:>+10.1f}{cells}   median {statistics.median(times['plain']) / 1e3:.0f}"
        )


if __name__ == "__main__":
    main()
