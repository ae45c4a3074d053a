"""The GPU side of the recipes as torch operators: `torch.compile` sees one opaque call, and Triton is imported late.

A recipe asks `fits` and else takes its plain path, which is right on every device.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FLOATS = (torch.float32, torch.float16, torch.bfloat16)  # what the kernels compute from
_PLAIN = (Tensor, torch.nn.Parameter)  # not a fake tensor, nor another subclass that must see the operator
_HAS_TRITON = find_spec("triton") is not None
_LIBRARY = torch.library.Library("torchlore", "FRAGMENT")
_ANY = "CompositeExplicitAutograd"  # every device: the interpreter runs the same kernels on the CPU in tests


def fits(value: Tensor) -> bool:
    """Whether the kernels can take this tensor: on a GPU, with Triton there."""
    return _HAS_TRITON and value.is_cuda


def _here(name: str, value: object) -> Callable[..., object]:
    """The kernel's own launcher where nothing traces: the dispatcher's way costs more than a small kernel."""
    if torch.compiler.is_compiling() or type(value) not in _PLAIN:
        operator: Callable[..., object] = getattr(torch.ops.torchlore, name)
        return operator
    return _LAUNCH[name]


def one(name: str, value: Tensor, *rest: object) -> Tensor:
    """Run the operator of that name, which gives one tensor."""
    result = _here(name, value)(value, *rest)
    assert isinstance(result, Tensor)
    return result


def two(name: str, value: Tensor, *rest: object) -> tuple[Tensor, Tensor]:
    """Run the operator of that name, which gives two tensors."""
    result = _here(name, value)(value, *rest)
    assert isinstance(result, tuple)
    first, second = result
    return first, second


def abs_sum(parameters: Sequence[Tensor]) -> Tensor | None:
    """The sum of the absolute values of many tensors at once, or None where the kernel cannot read them."""
    if not _all_dense(parameters):
        return None
    from torchlore.recipes import _kernels_class

    run = _on_its_device(lambda _, rest: _kernels_class.abs_sum(rest))
    result = run(parameters[0], parameters)
    assert isinstance(result, Tensor)
    return result


def signs(parameters: Sequence[Tensor], above: Tensor) -> tuple[Tensor, ...] | None:
    """The signs of many tensors times one number at once, or None where the kernel cannot read them."""
    if not _all_dense(parameters):
        return None
    from torchlore.recipes import _kernels_class

    run = _on_its_device(lambda _, *rest: _kernels_class.signs(*rest))
    result = run(parameters[0], parameters, above)
    assert isinstance(result, tuple)
    return result


def add_signs(parameters: Sequence[Tensor], grads: Sequence[Tensor], factor: float) -> bool:
    """Add the signs of many tensors times one number to as many others at once; False, and nothing done, where the kernel cannot."""
    if not _all_dense(parameters) or list(map(_layout, parameters)) != list(map(_layout, grads)):
        return False
    from torchlore.recipes import _kernels_class

    _on_its_device(lambda _, *rest: _kernels_class.add_signs(*rest))(parameters[0], parameters, grads, factor)
    return True


def _all_dense(parameters: Sequence[Tensor]) -> bool:
    if torch.compiler.is_compiling() or None in map(_layout, parameters):
        return False
    return len({p.get_device() for p in parameters}) == 1


def _layout(value: Tensor) -> torch.memory_format | None:
    """How a tensor that the kernels for many can read lies in memory; None for any other tensor."""
    if value.dtype != torch.float32 or type(value) not in _PLAIN or not fits(value):
        return None
    if value.is_contiguous():
        return torch.contiguous_format
    return torch.channels_last if value.is_contiguous(memory_format=torch.channels_last) else None


def _on_its_device(run: Callable[..., object]) -> Callable[..., object]:
    """Triton launches on the current device, which need not be the tensors'."""

    def launch(value: Tensor, *rest: object) -> object:
        if value.is_cuda and value.get_device() != torch.cuda.current_device():
            with torch.cuda.device(value.device):
                return run(value, *rest)
        return run(value, *rest)

    return launch


def _order_blocks(noise: Tensor, spread: float) -> Tensor:
    from torchlore.recipes import _kernels

    return _kernels.order_blocks(noise, spread)


def _move_blocks(planes: Tensor, plan: Tensor) -> Tensor:
    from torchlore.recipes import _kernels

    return _kernels.move_blocks(planes, plan)


def _count_pairs(prediction: Tensor, target: Tensor, classes: int, ignore: int | None) -> Tensor:
    from torchlore.recipes import _kernels

    return _kernels.count_pairs(prediction, target, classes, ignore)


def _overlap_loss(
    scores: Tensor, targets: Tensor, rows: int, ratio: list[float], ignore: int, flags: int, reduction: int
) -> tuple[Tensor, Tensor]:
    from torchlore.recipes import _kernels

    return _kernels.overlap_loss(scores, targets, rows, ratio, ignore, flags, reduction)


def _overlap_back(
    scores: Tensor, targets: Tensor, kept: Tensor, above: Tensor, ignore: int, flags: int, reduction: int
) -> Tensor:
    from torchlore.recipes import _kernels

    return _kernels.overlap_back(scores, targets, kept, above, ignore, flags, reduction)


def _smooth_loss(logits: Tensor, target: Tensor, off: float, ignore: int, reduction: int) -> tuple[Tensor, Tensor]:
    from torchlore.recipes import _kernels_class

    return _kernels_class.smooth_loss(logits, target, off, ignore, reduction)


def _smooth_back(logits: Tensor, target: Tensor, kept: Tensor, above: Tensor, off: float) -> Tensor:
    from torchlore.recipes import _kernels_class

    return _kernels_class.smooth_back(logits, target, kept, above, off)


def _bilinear(x: Tensor, eps: float, precision: str | None) -> tuple[Tensor, Tensor]:
    from torchlore.recipes import _kernels_class

    if precision is None:  # asked for here, at run time: torch.compile cannot trace the question
        precision = "ieee" if torch.get_float32_matmul_precision() == "highest" else "tf32"
    return _kernels_class.bilinear(x, eps, precision)


def _float32(like: Tensor, *shape: int) -> Tensor:
    return like.new_empty(shape, dtype=torch.float32)


def _reduced(like: Tensor, rows: int, reduction: int) -> Tensor:
    return _float32(like, *([] if reduction else [rows]))


_OPERATORS = (
    (
        "order_blocks(Tensor noise, float spread) -> Tensor",
        _order_blocks,
        lambda noise, _: noise.new_empty(noise.shape[1:], dtype=torch.int64),
    ),
    ("move_blocks(Tensor planes, Tensor plan) -> Tensor", _move_blocks, lambda planes, *_: torch.empty_like(planes)),
    (
        "count_pairs(Tensor prediction, Tensor target, int classes, int? ignore) -> Tensor",
        _count_pairs,
        lambda _, target, classes, *__: target.new_empty(classes * classes + 1, dtype=torch.int64),
    ),
    (
        "overlap_loss(Tensor x, Tensor y, SymInt rows, float[] ratio, int ignore, int flags, int mode) -> (Tensor, Tensor)",
        _overlap_loss,
        lambda scores, _, rows, *rest: (_reduced(scores, rows, rest[-1]), _float32(scores, 3, rows)),
    ),
    (
        "overlap_back(Tensor x, Tensor y, Tensor kept, Tensor above, int ignore, int flags, int mode) -> Tensor",
        _overlap_back,
        lambda scores, *_: torch.empty_like(scores),
    ),
    (
        "smooth_loss(Tensor logits, Tensor target, float off, int ignore, int reduction) -> (Tensor, Tensor)",
        _smooth_loss,
        lambda logits, *rest: (
            _reduced(logits, logits.shape[0], rest[-1]),
            _float32(logits, logits.shape[0] + 1),
        ),
    ),
    (
        "smooth_back(Tensor logits, Tensor target, Tensor kept, Tensor above, float off) -> Tensor",
        _smooth_back,
        lambda logits, *_: torch.empty_like(logits),
    ),
    (
        "bilinear(Tensor x, float eps, str? precision) -> (Tensor, Tensor)",
        _bilinear,
        lambda x, *_: (_float32(x, x.shape[0], x.shape[1] ** 2), _float32(x, x.shape[0])),
    ),
)
_LAUNCH: dict[str, Callable[..., object]] = {}

for _schema, _run, _fake in _OPERATORS:
    _name = _schema.split("(", 1)[0]
    _LAUNCH[_name] = _on_its_device(_run)
    _LIBRARY.define(_schema)
    _LIBRARY.impl(_name, _LAUNCH[_name], _ANY)
    torch.library.register_fake(f"torchlore::{_name}", _fake, lib=_LIBRARY)
