"""Write a run's best weights as one file for elsewhere, tried on real samples before it gets its name.

torch writes a .pt2 program and onnx an .onnx graph; both take pictures (B, C, H, W) uint8 and hold the preprocessing.
safetensors writes the weights, with classes, mean, std and size in its header.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from torchlore.cli import Failure
from torchlore.train.run import Refused, Trouble

FORMATS = ("torch", "onnx", "safetensors")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The run, the format, the file."""
    parser.add_argument("folder", type=Path, metavar="RUN", help="the folder that `lore train` made")
    parser.add_argument("--to", choices=FORMATS, default="torch", help="the format (default: torch)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write it (default: RUN/model.ENDING)")
    parser.add_argument("--data", default="", help="other data to try it on, where the run's own is gone")


def run(args: argparse.Namespace) -> int:
    """Open the run, write, run the file, compare."""
    try:
        from torchlore.train.again import opened
        from torchlore.train.export import ENDINGS, export

        made = opened(args.folder, args.data)
        done = export(made, args.to, args.out or args.folder / f"model{ENDINGS[args.to]}")
    except (Refused, Trouble) as error:
        raise Failure(str(error)) from None
    except OSError as error:
        raise Failure(
            f"{error.filename or args.out or args.folder} cannot be written ({error.strerror or error})"
        ) from None
    size = done.path.stat().st_size / 1e6
    print(f"{done.path}: {size:.2f} MB; logits within {done.difference:.1e} of the model's on {done.samples} samples")
    return 0
