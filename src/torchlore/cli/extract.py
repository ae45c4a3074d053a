"""Write what named layers of a model give for every picture of a folder.

Examples:
  lore extract resnet50 photos --layers layer3,layer4.1.bn2 -o features.h5
  lore extract timm:vit_small_patch16_224 photos --layers norm --pool -o features.parquet
  lore extract model.py:make photos --weights best.pt --layers backbone.4 -o features.safetensors
  torchrun --nproc-per-node 2 -m torchlore extract resnet50 photos --layers avgpool -o features.npy

Run the same command again after a kill: what is finished is kept.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchlore.cli import Failure
from torchlore.cli._training import LEFT_OUT

if TYPE_CHECKING:
    from torchlore.extract.parts import Job, Progress
    from torchlore.train.group import World


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Model, data, layers and the file to write."""
    parser.add_argument("model", metavar="MODEL", help="a torchvision model, timm:NAME, or path/to/file.py:factory")
    parser.add_argument(
        "data", metavar="DATA", help="a folder of pictures, manifest, .h5 file, tar shards, or `digits`"
    )
    parser.add_argument(
        "--layers", required=True, metavar="A,B.C", help="names of layers; `lore summary MODEL` lists them"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help=".h5, .parquet, .safetensors or .npy"
    )
    parser.add_argument(
        "--weights", metavar="WHICH", help="none, default, a torchvision weights name, or a checkpoint file"
    )
    parser.add_argument("--pool", action="store_true", help="keep the mean over all places of a feature map")
    parser.add_argument(
        "--size",
        type=int,
        default=0,
        metavar="PIXELS",
        help="side of the square pictures (default: what the weights want)",
    )
    parser.add_argument("--batch-size", type=int, default=32, metavar="N", help="pictures at once (default: 32)")
    parser.add_argument("--half", action="store_true", help="write 16-bit numbers: half the size")
    parser.add_argument("--device", default="", help="where to compute (default: the best there is)")
    parser.add_argument("--force", action="store_true", help="write over a file of another extraction")


def run(args: argparse.Namespace) -> int:
    """Check everything, compute what is missing, put it together."""
    from torchlore.train.group import everyone, joined, leave, world
    from torchlore.train.run import Refused

    left_out = 0
    try:
        with joined(world()) as here:
            job = prepared_job(args, here)
            state, refusal = everyone(here, begin_or_say(job) if here.rank == 0 else ("", ""))[0]
            if not refusal:
                left_out = extract_all(job, here, state)
    except Refused as refused:
        raise Failure(str(refused)) from None
    except KeyboardInterrupt:
        raise Failure("interrupted; the same command goes on, finished parts are kept", 130) from None
    if refusal:
        raise Failure(refusal)
    return leave(here, LEFT_OUT if left_out and here.size == 1 else 0)  # torchrun takes any but 0 for a crash


def begin_or_say(job: Job) -> tuple[str, str]:
    """The state of the target, or a refusal as text, so that all processes hear of it."""
    from torchlore.extract.parts import begin
    from torchlore.train.run import Refused

    try:
        return begin(job), ""
    except Refused as refused:
        return "", str(refused)


def prepared_job(args: argparse.Namespace, here: World) -> Job:
    """The model, the pictures and the shapes of the features, checked."""
    import torch

    from torchlore.extract.formats import check_target
    from torchlore.extract.layers import shapes
    from torchlore.extract.models import chosen_device, digest, open_model, usual_weights
    from torchlore.extract.parts import Job
    from torchlore.extract.pictures import list_pictures
    from torchlore.recipes.features import Extractor
    from torchlore.train.models import prepared
    from torchlore.train.run import Refused

    layers = list(dict.fromkeys(word.strip() for word in args.layers.split(",") if word.strip()))
    check_target(args.output, layers)
    if args.batch_size < 1 or args.size < 0:
        raise Refused(f"--batch-size must be at least 1 and --size at least 0; got {args.batch_size} and {args.size}")
    device = chosen_device(args.device, here.local if here.size > 1 else None)
    pictures = list_pictures(args.data)
    weights = args.weights or usual_weights(args.model)
    built = open_model(args.model, weights, pictures.channels)
    try:
        Extractor(built.model, layers)
    except ValueError as error:
        raise Refused(f"--layers: {error}") from None
    model, prepare = built.model.to(device), prepared(built, device, channels_last=False)
    size = args.size or built.size or pictures.size or 224
    found = shapes(model, layers, prepare(torch.zeros(2, pictures.channels, size, size)), pool=args.pool)
    dtype = torch.float16 if args.half else torch.float32
    about: dict[str, Any] = {
        "model": args.model if ".py:" not in args.model else str(Path(args.model).absolute()),
        "weights": str(Path(weights).absolute()) if Path(weights).is_file() else weights,
        "layers": layers,
        "pool": args.pool,
        "size": size,
        "dtype": str(dtype).removeprefix("torch."),
        "digest": digest(model),
        "pictures": pictures.stamp,
        "data": args.data if not Path(args.data).exists() else str(Path(args.data).absolute()),
        "channels": pictures.channels,
        "shapes": {name: list(shape) for name, shape in found.items()},
        "batch": args.batch_size,
    }
    return Job(args.output, model, prepare, pictures, about, found, args.batch_size, dtype, args.force)


def extract_all(job: Job, here: World, state: str) -> int:
    """Compute this process's share; the first process puts the parts together and takes them away.

    How many broken pictures it had to leave out.
    """
    import shutil

    from torchlore.extract.formats import write
    from torchlore.extract.parts import compute, merged
    from torchlore.train.group import everyone

    if state == "done":
        say(here, f"{job.target} is complete already")
        return 0
    begun = time.perf_counter()
    words = [f"{len(job.pictures.names):,} pictures", *described(job)]
    words += ["random weights"] * (job.about["weights"] == "none") + ["going on"] * (state == "resumed")
    say(here, ", ".join(words))
    compute(job, here, status(begun, here) if here.rank == 0 and sys.stderr.isatty() else None)
    broken: dict[str, str] = {}
    everyone(here, True)  # all parts are there once everyone has come here
    if here.rank == 0:
        table, broken = merged(job)
        for name, reason in broken.items():
            print(f"left out {name}: {reason}", file=sys.stderr)
        write(job.target, table)
        shutil.rmtree(job.folder)
        took = time.perf_counter() - begun
        megabytes = job.target.stat().st_size / 2**20
        say(here, f"{len(table.names):,} rows, {megabytes:.1f} MiB, {took:.1f} s\n  {job.target}")
        if broken:
            count = "1 broken picture is" if len(broken) == 1 else f"{len(broken)} broken pictures are"
            say(here, f"{count} not in it, as named above")
    everyone(here, True)  # nobody leaves before the file is there
    return len(broken)


def described(job: Job) -> list[str]:
    """Each layer and the shape of its feature."""
    return [f"{name} {'x'.join(map(str, shape))}" for name, shape in job.shapes.items()]


def say(here: World, text: str) -> None:
    """One process speaks for all."""
    if here.rank == 0:
        print(text, flush=True)


def status(begun: float, here: World) -> Progress:
    """A line that is written over: pictures, rate, time left."""

    def show(done: int, total: int) -> None:
        rate = done / max(time.perf_counter() - begun, 1e-9)
        line = f"{done * here.size:,} of {total * here.size:,} pictures, {rate * here.size:.0f}/s, {(total - done) / rate:.0f} s left"
        print(f"\r\x1b[2K{line}" if done < total else "\r\x1b[2K", end="", file=sys.stderr, flush=True)

    return show
