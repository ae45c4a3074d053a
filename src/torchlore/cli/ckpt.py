"""Open a checkpoint of any format without running it: show, scan, match, convert, diff, average, repair."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torchlore.ckpt.values import BadFile
from torchlore.cli import Failure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One sub-command each."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _show_arguments(actions)
    _scan_arguments(actions)
    _match_arguments(actions)
    _convert_arguments(actions)
    _other_arguments(actions)


def _add(actions: Any, name: str, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=text, description=text)
    parser.add_argument("--json", action="store_true", help="print one JSON object for machines")
    return parser


def _show_arguments(actions: Any) -> None:
    parser = _add(actions, "show", "what is inside: format, keys, shapes, devices, what a resume lacks, bad numbers")
    parser.add_argument("file", metavar="FILE", help="a checkpoint, a folder of shards or a DCP folder")
    parser.add_argument("--stats", choices=("sample", "full", "none"), default="sample",
                        help="how many of the numbers to look at (default: sample, at most 1 MB a tensor)")  # fmt: skip
    parser.add_argument(
        "--lines", type=int, default=40, metavar="N", help="lines of the tree of keys, 0 for all (default: 40)"
    )


def _scan_arguments(actions: Any) -> None:
    parser = _add(actions, "scan", "what a pickle would import and call; exit status 1 if that is dangerous")
    parser.add_argument("files", nargs="+", metavar="FILE", help="files or folders")
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="NAME",
        help="a name you trust, such as 'timm.*'; again for more",
    )
    parser.add_argument(
        "--fail-on",
        choices=("unknown", "dangerous"),
        default="unknown",
        help="what makes the exit status 1 (default: unknown)",
    )
    parser.add_argument("--all", action="store_true", help="list allowed names and files without pickles too")


def _match_arguments(actions: Any) -> None:
    parser = _add(actions, "match", "which keys fit a model, which do not and why, and the renaming that would fit")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="resnet50, timm:NAME, torchvision:NAME, path/to/file.py:function, package.module:function, or another checkpoint",
    )
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an argument of the model, such as num_classes=10; again for more",
    )
    parser.add_argument("--group", metavar="NAME", help="the weights to take, 'ema' for the averaged ones")
    parser.add_argument("--apply", type=Path, metavar="OUT", help="write the weights that fit under the model's names")
    parser.add_argument("--force", action="store_true", help="overwrite OUT")


def _convert_arguments(actions: Any) -> None:
    parser = _add(
        actions, "convert", "write it anew: safetensors, plain state_dict, half precision, EMA, without prefix"
    )
    parser.add_argument("file", metavar="IN")
    parser.add_argument("out", type=Path, metavar="OUT", help="ends in .safetensors, or is a file for torch.load")
    parser.add_argument(
        "--dtype",
        choices=("float16", "half", "bfloat16", "bf16", "float32", "float64"),
        help="of the floating-point weights",
    )
    parser.add_argument("--group", metavar="NAME", help="the weights to take")
    parser.add_argument("--ema", action="store_const", const="ema", dest="group", help="take the averaged weights")
    parser.add_argument(
        "--strip-prefix",
        nargs="?",
        const="auto",
        metavar="PREFIX",
        help="take a prefix off, without a value those of wrappers",
    )
    parser.add_argument("--keep", choices=("weights", "no-optimizer", "all"), default="weights",
                        help="what else to write (default: only the weights, as a plain state_dict)")  # fmt: skip
    parser.add_argument("--force", action="store_true", help="overwrite OUT")


def _other_arguments(actions: Any) -> None:
    parser = _add(
        actions,
        "diff",
        "keys, shapes and distances of two checkpoints, largest change first; exit status 1 if they differ",
    )
    parser.add_argument("first", metavar="A")
    parser.add_argument("second", metavar="B")
    parser.add_argument("--group", metavar="NAME", help="the weights to compare")
    parser.add_argument("--lines", type=int, default=30, metavar="N", help="changes to list (default: 30)")
    parser = _add(actions, "average", "write the mean of the weights of several checkpoints")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="OUT")
    parser.add_argument("--group", metavar="NAME", help="the weights to take")
    parser.add_argument("--force", action="store_true", help="overwrite OUT")
    parser = _add(actions, "repair", "save the tensors of a damaged file that are whole")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument(
        "out", type=Path, nargs="?", metavar="OUT", help="default: FILE with .repaired before its ending"
    )
    parser.add_argument("--force", action="store_true", help="overwrite OUT")


def run(args: argparse.Namespace) -> int:
    """Do it; a broken file is one line and exit status 2."""
    try:
        return _ACTIONS[args.action](args)
    except BadFile as error:
        raise Failure(str(error)) from None
    except OSError as error:
        raise Failure(f"{error.filename or 'the file'}: {error.strerror or error}.") from None


def _print(data: Any) -> None:
    print(json.dumps(data, indent=1, default=str))


def _free(path: Path, *, force: bool) -> Path:
    if path.exists() and not force:
        raise Failure(f"{path} exists; --force overwrites it")
    if not path.parent.exists():
        raise Failure(f"there is no folder {path.parent}")
    return path


def _show(args: argparse.Namespace) -> int:
    from torchlore.ckpt import render
    from torchlore.ckpt.health import inspect
    from torchlore.ckpt.names import Verdict
    from torchlore.ckpt.overview import files, overview
    from torchlore.ckpt.reader import read_checkpoint
    from torchlore.ckpt.scan import scan

    checkpoint = read_checkpoint(args.file)
    found = inspect(checkpoint, full=args.stats == "full", numbers=args.stats != "none")
    told = overview(checkpoint, found)
    reports = [report for file in files(checkpoint) for report in scan(file)]
    verdict = max((report.verdict for report in reports), key=lambda item: item.rank, default=Verdict.ALLOWED)
    if args.json:
        _print({**told, "safety": verdict})
    else:
        render.show(checkpoint, told, verdict, args.lines or 1_000_000)
    return int(any(finding.severity == "error" for finding in found))


def _scan(args: argparse.Namespace) -> int:
    from torchlore.ckpt import render
    from torchlore.ckpt.names import Verdict
    from torchlore.ckpt.scan import scan

    reports = [report for file in args.files for report in scan(file, tuple(args.allow))]
    if args.json:
        _print([{**asdict(report), "verdict": report.verdict} for report in reports])
    else:
        render.scan(reports, everything=args.all)
    worst = max((report.verdict for report in reports), key=lambda verdict: verdict.rank, default=Verdict.ALLOWED)
    if worst is Verdict.DANGEROUS:
        return 1
    if any(report.error for report in reports):
        return 2
    return int(worst is Verdict.UNKNOWN and args.fail_on == "unknown")


def _match(args: argparse.Namespace) -> int:
    from torchlore.ckpt import render
    from torchlore.ckpt.convert import Written, _save
    from torchlore.ckpt.match import match, rename_map
    from torchlore.ckpt.models import model_specs
    from torchlore.ckpt.reader import read_checkpoint
    from torchlore.ckpt.weights import weights
    from torchlore.ckpt.write import out

    state = weights(read_checkpoint(args.file), args.group)
    target = model_specs(args.model, args.arg)
    found = match({key: (tensor.shape, tensor.dtype) for key, tensor in state.items()}, target)
    if args.json:
        _print({**asdict(found), "complete": found.complete, "renamed": rename_map(found)})
    else:
        render.match(found, args.file, args.model)
    if args.apply:
        path = _free(args.apply, force=args.force)
        _save({new: out(state[old]) for old, new in found.mapping.items()}, path)
        if not args.json:
            render.written(Written(str(path), len(found.mapping), path.stat().st_size))
    return int(not found.complete)


def _written(args: argparse.Namespace, done: Any) -> int:
    from torchlore.ckpt import render

    if args.json:
        _print(asdict(done))
    else:
        render.written(done)
    return 0


def _convert(args: argparse.Namespace) -> int:
    from torchlore.ckpt.convert import convert

    target = _free(args.out, force=args.force)
    done = convert(args.file, target, dtype=args.dtype, which=args.group, prefix=args.strip_prefix, keep=args.keep)
    return _written(args, done)


def _average(args: argparse.Namespace) -> int:
    from torchlore.ckpt.convert import average

    return _written(args, average(args.files, _free(args.out, force=args.force), which=args.group))


def _repair(args: argparse.Namespace) -> int:
    from torchlore.ckpt.convert import repair

    source = Path(args.file)
    target = args.out or source.with_name(f"{source.stem}.repaired{source.suffix}")
    return _written(args, repair(source, _free(target, force=args.force)))


def _diff(args: argparse.Namespace) -> int:
    from torchlore.ckpt import render
    from torchlore.ckpt.convert import diff

    found = diff(args.first, args.second, which=args.group)
    if args.json:
        _print({**asdict(found), "equal": found.equal})
    else:
        render.diff(found, args.first, args.second, args.lines)
    return int(not found.equal)


_ACTIONS = {
    "show": _show,
    "scan": _scan,
    "match": _match,
    "convert": _convert,
    "diff": _diff,
    "average": _average,
    "repair": _repair,
}
