"""Go on with a run that was stopped or killed: it ends with the same bits as one that never was."""

from __future__ import annotations

import argparse
from pathlib import Path

from torchlore.train.flags import read
from torchlore.train.run import Refused, checked

from torchlore.cli import Failure  # isort: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The run's folder."""
    parser.add_argument("folder", type=Path, metavar="RUN", help="the folder that `lore train` made")


def run(args: argparse.Namespace) -> int:
    """Read the run's own config and go on from its newest whole checkpoint."""
    config = args.folder / "config.yaml"
    if not config.is_file():
        why = "it has no config.yaml" if args.folder.is_dir() else "there is no such folder"
        raise Failure(f"{args.folder} is no run: {why}")
    try:
        from torchlore.cli._training import go

        begun = any((args.folder / "checkpoints").glob("step-*.pt"))
        return go(checked(read(config), begun=True), lambda: args.folder, load=not begun)
    except Refused as refused:
        raise Failure(str(refused)) from None
