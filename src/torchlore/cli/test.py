"""Test a run's best weights: on its own test split, or on other data with the same classes.

Writes test.json, test.csv and report.html: into the run's folder, or for other data into a folder of its own in it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from torchlore.cli import Failure
from torchlore.train.run import Refused


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The run, and perhaps other data."""
    parser.add_argument("folder", type=Path, metavar="RUN", help="the folder that `lore train` made")
    parser.add_argument("data", nargs="?", default="", metavar="DATA", help="other data, in any layout of lore train")


def run(args: argparse.Namespace) -> int:
    """Open the run, predict, write the figures and the report."""
    try:
        from torchlore.cli._training import ended, left_out
        from torchlore.train.again import opened
        from torchlore.train.finish import test, write_report

        made = opened(args.folder, args.data)
        if not len(made.data.test.labels):
            raise Failure(f"{made.run.data} has no test split, and --val 0 took none of it: give other DATA")
        out = args.folder / f"test-{made.data.name}" if args.data else args.folder
        out.mkdir(exist_ok=True)
        tested = test(made, out, made.data.test)
        assert tested is not None
        report = write_report(made, args.folder, tested, None, out)
    except Refused as refused:
        raise Failure(str(refused)) from None
    except OSError as error:
        raise Failure(f"{error.filename or args.folder} cannot be written ({error.strerror or error})") from None
    for line in [*left_out(made.data), *tested.lines, f"  {report}"]:
        print(line)
    return ended(made)
