"""List a model's layers: output, parameters, MACs, memory, the pixels each sees, and its time here.

Examples:
  lore summary resnet50 --input 3,224,224
  lore summary timm:convnext_tiny --depth 2 --graph model.svg
  lore summary model.py:make --input 1,28,28 --profile --html model.html

Without --profile nothing is computed: sizes come from torch's meta device wherever the model allows it.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from torchlore.cli import Failure

if TYPE_CHECKING:
    import torch
    from torch import nn

    from torchlore.recipes.profile import Costs, Graph, Summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The model, its input, and what to write."""
    parser.add_argument("model", metavar="MODEL", help="a torchvision model, timm:NAME, or path/to/file.py:factory")
    parser.add_argument("--input", default="3,224,224", metavar="C,H,W", help="sizes of one input (default: 3,224,224)")
    parser.add_argument("--batch-size", type=int, default=1, metavar="N", help="inputs at once (default: 1)")
    parser.add_argument(
        "--depth", type=int, default=0, metavar="N", help="show modules down to this depth (default: all)"
    )
    parser.add_argument("--graph", type=Path, metavar="FILE.svg", help="draw how the layers connect")
    parser.add_argument("--profile", action="store_true", help="measure time and memory of each module on this device")
    parser.add_argument("--device", default="", help="where --profile measures (default: the best there is)")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page; with --profile with a flame chart")
    parser.add_argument("--json", action="store_true", help="print one JSON object for machines")


def run(args: argparse.Namespace) -> int:
    """The table, and what was asked for beside it."""
    from torchlore.extract.fields import receptive_fields
    from torchlore.extract.overview import as_json, html, lines
    from torchlore.recipes.profile import graph_svg
    from torchlore.train.run import Refused

    try:
        sizes = parsed_sizes(args)
        model, found, graph = seen(args.model, sizes)
        costs = measured(args.model, sizes, args.device) if args.profile else None
    except Refused as refused:
        raise Failure(str(refused)) from None
    fields = receptive_fields(model, graph) if len(sizes) == 4 else {}
    if args.json:
        print(json.dumps(as_json(found, fields, costs)))
    else:
        print(lines(found, fields, args.depth))
        if costs is not None:
            kept = tuple(row for row in costs.rows if not args.depth or row.name.count(".") < args.depth)
            print(f"\n{replace(costs, rows=kept)}")
    if args.graph:
        write(args.graph, graph_svg(graph), quiet=args.json)
    if args.html:
        write(args.html, html(args.model, found, fields, costs), quiet=args.json)
    return 0


def parsed_sizes(args: argparse.Namespace) -> tuple[int, ...]:
    """The whole input's sizes, or Refused."""
    from torchlore.train.run import Refused

    words = args.input.replace("x", ",").split(",")
    if not all(word.strip().isdecimal() and int(word) > 0 for word in words):
        raise Refused(f"--input {args.input}: give the sizes of one input without the batch, such as 3,224,224")
    if args.batch_size < 1:
        raise Refused(f"--batch-size must be at least 1; got {args.batch_size}")
    return (args.batch_size, *map(int, words))


def seen(name: str, sizes: tuple[int, ...]) -> tuple[nn.Module, Summary, Graph]:
    """The model and what one forward pass shows; for real where a forward pass looks at values."""
    import torch

    from torchlore.extract.overview import look
    from torchlore.train.run import Refused

    try:
        with torch.device("meta"):
            model = opened(name, sizes)
            return model, *look(model, torch.zeros(sizes))
    except (NotImplementedError, RuntimeError, Refused):
        model = opened(name, sizes)
        return model, *look(model, torch.zeros(sizes))


def opened(name: str, sizes: tuple[int, ...]) -> nn.Module:
    """The model with random weights."""
    from torchlore.extract.models import open_model

    return open_model(name, "none", sizes[1] if len(sizes) == 4 else 3).model


def measured(name: str, sizes: tuple[int, ...], device: str) -> Costs:
    """Time and memory of each module in a forward and a backward pass, on a real device."""
    import torch

    from torchlore.extract.models import chosen_device
    from torchlore.recipes.profile import profile_modules

    place: torch.device = chosen_device(device)
    model = opened(name, sizes).to(place)
    return profile_modules(model, torch.zeros(sizes, device=place))


def write(path: Path, content: str, *, quiet: bool) -> None:
    """Write a file and say so, or fail in one line."""
    try:
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror}") from None
    if not quiet:
        print(f"  {path}")
