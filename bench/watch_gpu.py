"""`lore watch` on a GPU: the same program plainly and under watch, in turns; its numbers must be equal to the last bit.

    PYTHONPATH=src python3 bench/watch_gpu.py                 # the pairs, for both programs
    PYTHONPATH=src python3 bench/watch_gpu.py run cnn         # one program, as `lore watch` gets it

A program prints the median time of its blocks of steps (each between two device syncs), then a line with everything it
computed. The share is the ratio of the medians of the pairs.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

PAIRS = 4
BLOCK = {"cnn": 50, "resnet50": 5}
BLOCKS = {"cnn": 40, "resnet50": 24}


def cnn():
    from torch import nn

    layers = [nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Dropout(0.1), nn.AdaptiveAvgPool2d(4)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(512, 10)).cuda(), (128, 3, 32, 32)


def resnet50():
    import torch
    import torchvision

    return torchvision.models.resnet50(num_classes=10).cuda().to(memory_format=torch.channels_last), (128, 3, 224, 224)


def program(name: str) -> None:
    import torch
    from torch import nn

    torch.manual_seed(0)
    torch.backends.cudnn.deterministic = True
    model, shape = {"cnn": cnn, "resnet50": resnet50}[name]()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, y = torch.randn(shape).cuda(), torch.randint(10, shape[:1]).cuda()
    if name == "resnet50":
        x = x.to(memory_format=torch.channels_last)
    taken = []
    for _ in range(BLOCKS[name]):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(BLOCK[name]):
            with torch.autocast("cuda", torch.bfloat16, enabled=name == "resnet50"):
                loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        torch.cuda.synchronize()
        taken.append((time.perf_counter() - start) / BLOCK[name])
    total = sum(p.double().sum().item() for p in model.parameters())
    print(statistics.median(taken[len(taken) // 4 :]) * 1e3)
    print(loss.item(), total, torch.rand(3).tolist(), torch.rand(3, device="cuda").tolist())


def pairs(name: str) -> None:
    here = str(Path(__file__))
    ways = {"plain": [sys.executable, here], "watched": [sys.executable, "-m", "torchlore", "watch", here]}
    times: dict[str, list[float]] = {"plain": [], "watched": []}
    lines, said = set(), ""
    for _ in range(PAIRS):
        for way, command in ways.items():
            done = subprocess.run([*command, "run", name], capture_output=True, text=True, check=True, env=os.environ)
            step, line = done.stdout.strip().splitlines()[-2:]
            times[way].append(float(step))
            lines.add(line)
            said = done.stderr if way == "watched" else said
    plain, watched = (statistics.median(times[way]) for way in ways)
    same = "equal to the last bit" if len(lines) == 1 else f"DIFFERENT: {sorted(lines)}"
    print(
        f"{name}: {plain:.3f} ms plain, {watched:.3f} ms watched, {100 * (watched / plain - 1):+.2f} %; results {same}"
    )
    print(f"    all medians {[[round(t, 3) for t in times[way]] for way in ways]}")
    print("    watch said: " + " | ".join(said.strip().splitlines()[-3:]), flush=True)


def main() -> None:
    if sys.argv[1:2] == ["run"]:
        program(sys.argv[2])
        return
    for name in BLOCK:
        pairs(name)


if __name__ == "__main__":
    main()
