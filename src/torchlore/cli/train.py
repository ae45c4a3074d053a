"""Train a model: with no arguments a small network on the embedded digits.

Leaves a folder under runs/ with the report, the log, the figures and the checkpoints. Ctrl-C finishes the step, saves,
and says how to go on.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from torchlore.train.flags import add_flags, from_flags
from torchlore.train.run import Refused, Run, checked

from torchlore.cli import Failure  # isort: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One flag a field of the run."""
    parser.add_argument("data_or_none", nargs="?", metavar="DATA", help="the same as --data")
    parser.add_argument(
        "--out", type=Path, default=Path("runs"), metavar="DIR", help="where the run's folder is made (default: runs)"
    )
    parser.add_argument("--name", default="", help="the run's folder (default: the next free number)")
    add_flags(parser)


def run(args: argparse.Namespace) -> int:
    """Check everything, make the folder, train, test, report."""
    if args.data_or_none is not None:
        args.data = args.data_or_none
    try:
        from torchlore.cli._training import go

        return go(_shared(checked(from_flags(args))), lambda: new_folder(args.out, args.name))
    except Refused as refused:
        raise Failure(str(refused)) from None


def _shared(run: Run) -> Run:
    if run.shard and os.environ.get("WORLD_SIZE", "1") == "1":
        how = "`torchrun --nproc-per-node N -m torchlore train …`"
        raise Refused(f"--shard splits the weights over processes and there is one: {how}")
    return run


def new_folder(out: Path, name: str) -> Path:
    """The run's own folder, made new; after a restart by torchrun the folder of the run that goes on."""
    restarted = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") != "0"
    begun = sorted(out.glob(f"{name or '[0-9]*'}/config.yaml"))
    if restarted and begun:
        return begun[-1].parent
    try:
        if name:
            (out / name).mkdir(parents=True)
            return out / name
        taken = [int(path.name) for path in out.glob("[0-9]*") if path.name.isdigit()] if out.is_dir() else []
        folder = out / f"{max(taken, default=0) + 1:03}"
        folder.mkdir(parents=True)
    except FileExistsError:
        raise Refused(
            f"{out / name} exists already: `lore resume {out / name}` goes on with it, or choose another --name"
        ) from None
    except OSError as error:
        raise Refused(f"{out} cannot be written to ({error.strerror}): give another folder with --out") from None
    return folder
