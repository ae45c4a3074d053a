"""Work out sizes: `lore shape conv 224 -k 7 -s 2 -p 3`, or a chain of layers.

Examples:
  lore shape conv 224 -k 7 -s 2 -p 3
  lore shape chain 224 "conv k7 s2 p3" "pool k3 s2 p1" "conv k3 p1"
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from torchlore.cli import Failure

if TYPE_CHECKING:
    from torchlore.recipes.shapes import Layer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The layer, the size, and the layer's numbers."""
    parser.add_argument(
        "kind", choices=("conv", "transpose", "pool", "chain"), help="the layer, or `chain` for several"
    )
    parser.add_argument("size", type=int, help="height or width of the input")
    parser.add_argument("layers", nargs="*", metavar="LAYER", help="layers of a chain, such as 'conv k7 s2 p3'")
    parser.add_argument("-k", "--kernel", type=int, default=3, help="default 3")
    parser.add_argument("-s", "--stride", type=int, default=None, help="default 1; for a pool the kernel")
    parser.add_argument("-p", "--padding", type=int, default=0, help="default 0")
    parser.add_argument("-d", "--dilation", type=int, default=1, help="default 1")
    parser.add_argument("--output-padding", type=int, default=0, help="of a transposed convolution")
    parser.add_argument("--ceil", action="store_true", help="a pool rounds up")
    parser.add_argument("--json", action="store_true", help="print one JSON list for machines")


def run(args: argparse.Namespace) -> int:
    """A line a layer: output size, receptive field, step; for one layer a drawing of which pixels feed the middle one."""
    from torchlore.recipes.shapes import Layer, chain, parse_layer

    if (args.kind == "chain") != bool(args.layers):
        raise Failure(
            "layers are given after `chain SIZE`, such as `lore shape chain 224 'conv k7 s2 p3' 'pool k3 s2'`"
        )
    stride = args.stride if args.stride is not None else args.kernel if args.kind == "pool" else 1
    try:
        layers = [parse_layer(word) for word in args.layers] or [
            Layer(args.kind, args.kernel, stride, args.padding, args.dilation, args.output_padding, args.ceil)
        ]
        stages = chain(args.size, layers)
    except ValueError as error:
        told = str(error).partition(": ")[2]  # before it stands the recipe's function
        raise Failure(told) from None
    if args.json:
        print(json.dumps([{"size": s.size, "field": s.field, "jump": s.jump} for s in stages]))
        return 0
    before = args.size
    for word, stage in zip(args.layers or [args.kind], stages, strict=True):
        step = f"one output pixel every {stage.jump:g} input pixels"
        print(f"{word}: {before} -> {stage.size}, receptive field {stage.field:g}, {step}")
        before = stage.size
    print(drawing(args.size, layers, stages[-1].size // 2))
    return 0


def drawing(size: int, layers: list[Layer], index: int) -> str:
    """The input as a row of dots with the pixels that feed one output pixel filled."""
    from torchlore.recipes.shapes import sources

    fed = sources(size, layers, index)
    if size > 100:
        return f"output pixel {index} is fed by {len(fed)} input pixels, {fed[0]} to {fed[-1]}" if fed else ""
    dots = "".join("●" if pixel in set(fed) else "·" for pixel in range(size))
    return f"output pixel {index} is fed by\n{dots}"
