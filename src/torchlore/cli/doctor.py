"""Look at this machine: versions, GPUs, shared memory, CPUs, and what will go wrong."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from torchlore.cli import Failure
from torchlore.finding import Finding, Severity

if TYPE_CHECKING:
    from torchlore.doctor import Machine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The loader settings to judge the machine by."""
    parser.add_argument(
        "--workers", type=int, default=0, metavar="N", help="num_workers you want to use (default: the usable CPUs)"
    )
    parser.add_argument("--batch-mib", type=float, default=64.0, metavar="MIB", help="size of one batch (default: 64)")
    parser.add_argument("--prefetch", type=int, default=2, metavar="N", help="prefetch_factor (default: 2)")
    parser.add_argument("--json", action="store_true", help="print one JSON object for machines")


def run(args: argparse.Namespace) -> int:
    """Facts, then findings; exit status 1 if one of them is an error."""
    from torchlore.doctor import findings, look

    if args.workers < 0 or args.prefetch < 1 or not args.batch_mib > 0:
        raise Failure("--workers is at least 0, --prefetch at least 1 and --batch-mib above 0")
    machine = look()
    workers = args.workers or max(1, int(machine.quota))
    found = sorted(findings(machine, workers, args.batch_mib, args.prefetch), key=lambda one: one.severity.rank)
    if args.json:
        print(json.dumps({"machine": asdict(machine), "findings": [asdict(one) for one in found]}, indent=1))
    else:
        show(machine, found)
    return int(any(one.severity is Severity.ERROR for one in found))


def show(machine: Machine, found: list[Finding]) -> None:
    """The facts as a small table, the findings as sentences."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, value in rows(machine):
        table.add_row(f"[dim]{name}[/dim]", escape(value))
    console.print(table)
    colours = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.HINT: "cyan"}
    for one in found:
        console.print(
            f"\n[{colours[one.severity]}]{one.severity}[/] {escape(one.message)} [dim]{escape(f'[{one.slug}]')}[/dim]"
        )
    console.print("" if found else "\n[green]nothing stands in the way[/green]")


def rows(machine: Machine) -> list[tuple[str, str]]:
    """Name and value of each fact worth a line."""
    from torchlore.doctor.rules import describe

    shm = "none" if machine.shm_bytes is None else f"{machine.shm_bytes / 2**30:.1f} GiB free"
    lines = [
        ("python", f"{machine.python} on {machine.system}"),
        ("torch", describe(machine.torch) if machine.torch else "not installed"),
        ("packages", ", ".join(f"{name} {version}" for name, version in machine.packages.items() if name != "torch")),
        ("cpus", f"{machine.cpus}, of which {machine.quota:g} usable"),
        ("/dev/shm", shm),
        ("open files", str(machine.open_files)),
    ]
    lines += [
        (f"gpu {gpu.index}", f"{gpu.name}, driver {gpu.driver}, {gpu.used_mib} of {gpu.total_mib} MiB in use")
        for gpu in machine.gpus
    ]
    lines += [(f"  process {h.pid}", f"{h.name} holds {h.used_mib} MiB") for h in machine.holders]
    return lines + [(name, value) for name, value in machine.environment.items()]
