"""The GPU side of the recipes as torch operators: `torch.compile` sees one opaque call, and Triton is imported late.

A recipe asks `fits` and else takes its plain path, which is right on every device.
"""

from __future__ import annotations

from importlib.util import find_spec

import torch
from torch import Tensor

FLOATS = (torch.float32, torch.float16, torch.bfloat16)  # what the kernels compute from
_HAS_TRITON = find_spec("triton") is not None
_LIBRARY = torch.library.Library("torchlore", "FRAGMENT")
_ANY = "CompositeExplicitAutograd"  # every device: the interpreter runs the same kernels on the CPU in tests


def fits(value: Tensor) -> bool:
    """Whether the kernels can take this tensor: on a GPU, with Triton there."""
    return _HAS_TRITON and value.is_cuda


def _move_blocks(planes: Tensor, plan: Tensor) -> Tensor:
    from torchlore.recipes import _kernels

    return _kernels.move_blocks(planes, plan)


def _count_pairs(prediction: Tensor, target: Tensor, classes: int, ignore: int | None) -> Tensor:
    from torchlore.recipes import _kernels

    return _kernels.count_pairs(prediction, target, classes, ignore)


def _overlap_rows(scores: Tensor, targets: Tensor, ratio: list[float], ignore: int, flags: int) -> Tensor:
    from torchlore.recipes import _kernels

    return _kernels.overlap_rows(scores, targets, ratio, ignore, flags)


def _overlap_back(scores: Tensor, targets: Tensor, slopes: Tensor, ignore: int, flags: int) -> Tensor:
    from torchlore.recipes import _kernels

    return _kernels.overlap_back(scores, targets, slopes, ignore, flags)


def _smooth_rows(logits: Tensor, target: Tensor, off: float, ignore: int) -> Tensor:
    from torchlore.recipes import _kernels_class

    return _kernels_class.smooth_rows(logits, target, off, ignore)


def _smooth_back(logits: Tensor, target: Tensor, scale: Tensor, off: float) -> Tensor:
    from torchlore.recipes import _kernels_class

    return _kernels_class.smooth_back(logits, target, scale, off)


def _bilinear(x: Tensor, eps: float, precision: str | None) -> tuple[Tensor, Tensor]:
    from torchlore.recipes import _kernels_class

    if precision is None:  # asked for here, at run time: torch.compile cannot trace the question
        precision = "ieee" if torch.get_float32_matmul_precision() == "highest" else "tf32"
    return _kernels_class.bilinear(x, eps, precision)


def _float32(like: Tensor, *shape: int) -> Tensor:
    return like.new_empty(shape, dtype=torch.float32)


_OPERATORS = (
    ("move_blocks(Tensor planes, Tensor plan) -> Tensor", _move_blocks, lambda planes, *_: torch.empty_like(planes)),
    (
        "count_pairs(Tensor prediction, Tensor target, int classes, int? ignore) -> Tensor",
        _count_pairs,
        lambda _, target, classes, *__: target.new_empty(classes * classes + 1, dtype=torch.int64),
    ),
    (
        "overlap_rows(Tensor scores, Tensor targets, float[] ratio, int ignore, int flags) -> Tensor",
        _overlap_rows,
        lambda scores, *_: _float32(scores, 4, scores.shape[0]),
    ),
    (
        "overlap_back(Tensor scores, Tensor targets, Tensor slopes, int ignore, int flags) -> Tensor",
        _overlap_back,
        lambda scores, *_: torch.empty_like(scores),
    ),
    (
        "smooth_rows(Tensor logits, Tensor target, float off, int ignore) -> Tensor",
        _smooth_rows,
        lambda logits, *_: _float32(logits, 2, logits.shape[0]),
    ),
    (
        "smooth_back(Tensor logits, Tensor target, Tensor scale, float off) -> Tensor",
        _smooth_back,
        lambda logits, *_: torch.empty_like(logits),
    ),
    (
        "bilinear(Tensor x, float eps, str? precision) -> (Tensor, Tensor)",
        _bilinear,
        lambda x, *_: (_float32(x, x.shape[0], x.shape[1] ** 2), _float32(x, x.shape[0])),
    ),
)

for _schema, _run, _fake in _OPERATORS:
    _name = _schema.split("(", 1)[0]
    _LIBRARY.define(_schema)
    _LIBRARY.impl(_name, _run, _ANY)
    torch.library.register_fake(f"torchlore::{_name}", _fake, lib=_LIBRARY)
