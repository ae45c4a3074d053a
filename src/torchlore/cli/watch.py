"""Run a training program unchanged and tell which silent traps it is in."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from torchlore.cli import Failure
from torchlore.finding import Severity
from torchlore.watch.session import Options

if TYPE_CHECKING:
    from torchlore.watch.runner import Outcome, Program


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to run, and how; everything after the program belongs to the program."""
    parser.usage = "lore watch [OPTIONS] (SCRIPT | -m MODULE | -c CODE) [ARGUMENTS ...]"
    parser.add_argument("program", nargs=argparse.REMAINDER, help="the script and its arguments")
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, help="run a module, as `python -m` does")
    parser.add_argument("-c", dest="code", nargs=argparse.REMAINDER, help="run code, as `python -c` does")
    parser.add_argument("--json", metavar="FILE", help="write the findings and the timeline as JSON")
    parser.add_argument("--html", metavar="FILE", help="write a report with the timeline and the findings on it")
    parser.add_argument("--steps", type=int, default=0, metavar="N", help="stop the program after N optimizer steps")
    levels = tuple(str(one) for one in Severity)
    parser.add_argument("--fail-on", choices=levels, help="exit with status 1 where something this grave was found")
    parser.add_argument("--only", default="", metavar="SLUGS", help="look for these traps only (comma between)")
    parser.add_argument("--ignore", default="", metavar="SLUGS", help="do not look for these traps")
    parser.add_argument(
        "--share", type=float, default=1.0, metavar="PERCENT", help="of the time for watching (default 1)"
    )
    parser.add_argument("--no-deep", action="store_true", help="never look at single tensor operations")
    parser.add_argument(
        "--no-source", action="store_true", help="do not read the program's source as `lore check` does"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no live lines, no summary when nothing was found")


def run(args: argparse.Namespace) -> int:
    """Run the program; its own exit status is ours, unless --fail-on says otherwise."""
    from torchlore.catalogue import parts
    from torchlore.watch.runner import CannotRun
    from torchlore.watch.runner import run as run_program
    from torchlore.watch.session import sentinels_of

    slugs = {name: _slugs(getattr(args, name), name) for name in ("only", "ignore")}
    reports = {name: _writable(path) for name in ("json", "html") if (path := getattr(args, name))}
    if args.steps < 0 or not 0 <= args.share <= 100:
        raise Failure(f"--steps is 0 or more and --share 0 to 100 (percent); got {args.steps} and {args.share:g}")
    live = None if args.quiet else sys.stderr
    options = Options(args.share / 100, args.steps, slugs["only"], slugs["ignore"], live, deep=not args.no_deep,
                      source=not args.no_source)  # fmt: skip
    try:
        outcome = run_program(
            _program(args),
            lambda: sentinels_of(parts("watch")),
            options,
            lambda outcome: _tell(outcome, reports, quiet=args.quiet),
        )
    except CannotRun as reason:
        raise Failure(str(reason)) from None
    _tell(outcome, reports, quiet=args.quiet)
    if outcome.interrupted:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell must see that Ctrl-C ended it
        os.kill(os.getpid(), signal.SIGINT)
    grave = args.fail_on and any(one.severity.rank <= Severity(args.fail_on).rank for one in outcome.findings)
    return outcome.status or int(bool(grave))


def _tell(outcome: Outcome, reports: dict[str, Path], *, quiet: bool) -> None:
    """The summary, and the reports that were asked for."""
    from torchlore.watch import output

    if not quiet or outcome.findings:
        print(*output.summary(outcome), sep="\n", file=sys.stderr, flush=True)
    if "json" in reports:
        reports["json"].write_text(output.as_json(outcome), encoding="utf-8")
    if "html" in reports:
        from torchlore.watch.timeline import page

        reports["html"].write_text(page(outcome), encoding="utf-8")


def _slugs(text: str, option: str) -> frozenset[str]:
    """The slugs in a list with commas, each that of a note that a program or its source can show."""
    from torchlore.catalogue import UnknownNote, note

    found = frozenset(filter(None, text.replace(",", " ").split()))
    for slug in sorted(found):
        try:
            known = note(slug)
        except UnknownNote as error:
            raise Failure(f"--{option}: {error}") from None
        if option == "only" and known.part("watch") is None and known.part("find") is None:
            raise Failure(f"--only: {slug} is a note that neither a running program nor its source shows")
    return found


def _writable(path: str) -> Path:
    """Where a report goes, wherever the program walks to; that it cannot be written there is told before hours of training."""
    file = Path(path).absolute()
    try:
        file.touch()
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from None
    return file


def _program(args: argparse.Namespace) -> Program:
    from torchlore.watch.runner import Program

    if args.module:
        return Program(args.module[1:], module=args.module[0])
    if args.code:
        return Program(args.code[1:], code=args.code[0])
    if not args.program:
        raise Failure("name the program to run: lore watch train.py, lore watch -m package.train, lore watch -c CODE")
    return Program(args.program[1:], script=args.program[0])
