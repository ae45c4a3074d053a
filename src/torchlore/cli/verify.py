"""Run the claims of the handbook on this torch and this device."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import asdict

from torchlore.catalogue import UnknownNote, note, notes
from torchlore.cli import Failure
from torchlore.verify import Outcome, Verdict, verify

MARKS = {
    Outcome.HOLDS: "[green]holds[/green]",
    Outcome.FAILS: "[bold red]fails[/bold red]",
    Outcome.ABSENT: "[yellow]skipped[/yellow]",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which notes, on which device."""
    parser.add_argument("slugs", nargs="*", metavar="SLUG", help="notes to run; all of them if none is named")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="where the claims run (default: cpu)")
    parser.add_argument(
        "-j", "--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes (default: one a core)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object for machines")
    parser.add_argument("-q", "--quiet", action="store_true", help="show only what does not hold, and the summary")


def run(args: argparse.Namespace) -> int:
    """One line a note as it finishes, then the summary; exit status 1 if a claim does not hold."""
    try:
        slugs = [note(slug).slug for slug in args.slugs] or [one.slug for one in notes()]
    except UnknownNote as unknown:
        raise Failure(str(unknown)) from None
    if args.device == "cuda" and not _has_cuda():
        raise Failure("--device cuda: torch sees no GPU here; `lore doctor` says why")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if args.json:
        verdicts = sorted(verify(slugs, args.device, args.jobs), key=lambda verdict: verdict.slug)
        print(json.dumps({"device": args.device, "verdicts": [asdict(v) for v in verdicts]}, indent=1))
    else:
        verdicts = list(shown(slugs, args))
    return int(any(verdict.outcome is Outcome.FAILS for verdict in verdicts))


def _has_cuda() -> bool:
    """Asked in a process of its own: one that has asked may not fork claims that use the GPU."""
    code = "import torch; raise SystemExit(not torch.cuda.is_available())"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def shown(slugs: list[str], args: argparse.Namespace) -> list[Verdict]:
    """Run the claims with a progress bar on a terminal, and print the summary."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console, verdicts = Console(highlight=False), []
    columns = (TextColumn("verifying"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=len(slugs))
        for verdict in verify(slugs, args.device, args.jobs):
            verdicts.append(verdict)
            if not args.quiet or verdict.outcome is Outcome.FAILS:
                console.print(line(verdict), soft_wrap=True)
            bar.advance(task)
    console.print(summary(verdicts))
    return verdicts


def line(verdict: Verdict) -> str:
    """What is printed of one note."""
    from rich.markup import escape

    reason = {Outcome.HOLDS: f"{verdict.seconds:.2f} s", Outcome.ABSENT: f"needs {verdict.reason}"}.get(
        verdict.outcome, verdict.reason
    )
    return f"{MARKS[verdict.outcome]} {verdict.slug}  [dim]{escape(reason)}[/dim]"


def summary(verdicts: list[Verdict]) -> str:
    """How many hold, fail, or could not run here."""
    count = Counter(verdict.outcome for verdict in verdicts)
    return f"{count[Outcome.HOLDS]} hold, {count[Outcome.FAILS]} do not hold here, {count[Outcome.ABSENT]} need what is absent"
