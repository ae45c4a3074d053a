"""One piece of work done in the notes' way, in the best peer's and in ours, timed side by side: used by recipes_a and _b.

Times are milliseconds for one call. On a GPU the median over blocks of calls between two CUDA events. On the CPU the
contestants take turns and the fastest call of each counts, in processor time of the whole process, so that a neighbour
on the machine is charged to nobody.
The floor is what must be read and written at the rate of a large copy (on the CPU of a large pass in place), or multiplied
at the rate of a large product, whichever takes longer; the CPU's two rates are measured first, on this machine.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch

Work = Callable[[], object]

H200_BYTES_PER_MS = 4.177e9  # a device copy there
NOISE = 0.03  # two runs of one row on one quiet machine differ by as much


@dataclass
class Row:
    """One benchmark: what runs, how it is checked, and what must be moved or multiplied at least."""

    name: str
    ours: Work
    literal: Work | None = None
    peers: dict[str, Work] = field(default_factory=dict)  # those that do the same work
    check: Work | None = None  # raises unless ours gives what the reference gives
    bytes_moved: int = 0
    flops: int = 0
    bar: float | None = None  # milliseconds on an H200
    literal_does_less: bool = False  # then it is shown and not a contestant
    remark: str = ""


@dataclass
class Rates:
    """What the machine can do: bytes copied and operations of a product a millisecond; 0 where it is not known."""

    bytes_per_ms: float
    flops_per_ms: float = 0.0


def have(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def time_cuda(runs: dict[str, Work], blocks: int = 15) -> dict[str, float]:
    """Medians over blocks of calls, one after the other as a training loop makes them: the host's time counts.

    The contestants take turns, and each block runs for about 5 ms.
    """
    calls = {}
    for name, run in runs.items():
        run()
        torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        calls[name] = max(1, min(50, int(5e-3 / (time.perf_counter() - start))))
    times: dict[str, list[float]] = {name: [] for name in runs}
    for block in range(blocks):
        for name, run in runs.items():
            if block >= 3 and calls[name] == 1:
                continue  # a call of 5 ms or more: three times are enough
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            run()
            torch.cuda.synchronize()
            start.record()
            for _call in range(calls[name]):
                run()
            end.record()
            end.synchronize()
            times[name].append(start.elapsed_time(end) / calls[name])
    return {name: statistics.median(values) for name, values in times.items()}


def time_cpu(runs: dict[str, Work], seconds: float) -> dict[str, float]:
    """Take turns of up to five calls, so that a busy machine is as unfair to one as to the other; the fastest of each."""
    clock = time.process_time
    best, once = dict.fromkeys(runs, float("inf")), {}
    for name, run in runs.items():
        start = time.perf_counter()
        run()
        once[name] = time.perf_counter() - start
    end = time.perf_counter() + seconds * len(runs)
    rounds = 0
    while rounds < 3 or time.perf_counter() < end:
        rounds += 1
        for name, run in runs.items():
            for _ in range(5 if once[name] < 0.05 else 1):
                start = clock()
                run()
                best[name] = min(best[name], 1e3 * (clock() - start))
    return best


def rates(device: str) -> Rates:
    if device == "cuda":
        return Rates(H200_BYTES_PER_MS)
    values = torch.ones(2**26)  # 256 MB: no cache holds them
    matrix = torch.rand(1024, 1024)
    took = time_cpu({"pass": values.neg_, "product": lambda: matrix @ matrix}, 0.5)
    return Rates(2 * values.numel() * 4 / took["pass"], 2 * 1024**3 / took["product"])


def pin() -> None:
    """Keep every thread on one core: autograd's thread is then not woken on another, which took long on the H200 machine."""
    for thread in Path("/proc/self/task").iterdir():
        os.sched_setaffinity(int(thread.name), {0})


def measure(row: Row, device: str, machine: Rates, seconds: float, *, pinned: bool) -> dict[str, float | str | None]:
    if row.check:
        row.check()
    runs = {"ours": row.ours, **row.peers} | ({"literal": row.literal} if row.literal else {})
    if device == "cuda":
        for run in runs.values():
            run()
        if pinned:
            pin()
        times = time_cuda(runs)
    else:
        times = time_cpu(runs, seconds)
    peers = {name: times[name] for name in row.peers}
    best = min(peers, key=peers.get, default=None)
    floor = row.bytes_moved / machine.bytes_per_ms
    if machine.flops_per_ms:
        floor = max(floor, row.flops / machine.flops_per_ms)
    return {
        "name": row.name,
        "literal": times.get("literal"),
        "peer": peers.get(best),
        "peer_name": best or "",
        "ours": times["ours"],
        "floor": floor or None,
        "bar": row.bar if device == "cuda" else None,
        "beat": min((times[name] for name in _contestants(row)), default=None),
        "remark": row.remark,
    }


def _contestants(row: Row) -> list[str]:
    return [*row.peers, *(["literal"] if row.literal and not row.literal_does_less else [])]


def show(value: float | None) -> str:
    return f"{'-':>10}" if value is None else f"{value:10.3f}"


def verdict(result: dict[str, float | str | None]) -> str:
    if result["bar"] and result["ours"] > result["bar"]:
        return "  MISSED"
    return "  SLOWER" if result["beat"] and result["ours"] > (1 + NOISE) * result["beat"] else ""


def line(result: dict[str, float | str | None]) -> str:
    numbers = "".join(show(result[key]) for key in ("literal", "peer", "ours", "floor"))
    bar = f"{result['bar']:8.2f}" if result["bar"] else f"{'-':>8}"
    words = ", ".join(word for word in (result["peer_name"], result["remark"]) if word)
    return f"{result['name']:52}{numbers}{bar}  {words}{verdict(result)}"


def arguments(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", choices=["cuda", "cpu"])
    parser.add_argument("--only", default="", help="run the rows whose name contains this text")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each contestant on the CPU")
    parser.add_argument("--pin", action="store_true", help="keep the host's threads on one core while timing")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    return parser.parse_args()


def run(parts: Iterable[Callable[[], Row | list[Row]]], options: argparse.Namespace) -> None:
    """Make the rows part by part, time those that are wanted and print them as they come."""
    if options.device == "cpu":
        torch.set_num_threads(1)
    where = torch.cuda.get_device_name() if options.device == "cuda" else "CPU, one thread"
    print(f"torch {torch.__version__}, {where}; ms")
    print(f"{'what':52}{'literal':>10}{'peer':>10}{'ours':>10}{'floor':>10}{'bar':>8}  best peer, remark")
    machine, results = rates(options.device), []
    for row in _wanted(parts, options.only):
        result = measure(row, options.device, machine, options.seconds, pinned=options.pin)
        results.append(result)
        print(line(result), flush=True)
        torch.set_float32_matmul_precision("highest")
    if options.json:
        print(json.dumps(results))


def _wanted(parts: Iterable[Callable[[], Row | list[Row]]], only: str) -> Iterator[Row]:
    for make in parts:
        torch.manual_seed(0)
        made = make()
        yield from (row for row in (made if isinstance(made, list) else [made]) if only in row.name)
