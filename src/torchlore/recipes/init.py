"""Initialisation: the usual scheme in one call that says what it did, residual branches at zero, given tensors."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.parameter import UninitializedParameter

from torchlore.recipes import _args, _wants

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Report", "fans", "init_from_", "init_model_", "zero_residual_"]

_CONVS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
_NORMS = (_NormBase, nn.GroupNorm, nn.LayerNorm, nn.RMSNorm)


class Report(NamedTuple):
    """What was done: for each parameter's name how it was set, and the names that were left as they were."""

    done: dict[str, str]
    left: list[str]

    def __str__(self) -> str:
        lines = [f"{count:5d} x {how}" for how, count in Counter(self.done.values()).most_common()]
        if self.left:
            lines.append(
                f"{len(self.left):5d} x left as they were: {', '.join(self.left[:5])}{' ...' * (len(self.left) > 5)}"
            )
        return "\n".join(lines)


def fans(module: nn.Module) -> tuple[int, int]:
    """Values each output sums over and values each input feeds: fan in and fan out, right for grouped layers.

    `torch.nn.init` gives a depthwise 3x3 convolution over 64 channels a fan out of 576; it is 9. For a strided layer
    the stride is not counted.

    >>> fans(nn.Conv2d(64, 64, 3, groups=64)), fans(nn.ConvTranspose2d(8, 4, 2, bias=False))
    ((9, 9), (32, 16))
    """
    _wants.kind("fans", nn.Module, "an nn.Module", module=module)
    weight = getattr(module, "weight", None)
    if not isinstance(weight, Tensor) or weight.ndim < 2:
        raise ValueError(f"fans: module is a {type(module).__name__} without a weight of two dimensions or more.")
    groups = module.groups if isinstance(module, (*_CONVS, *_TRANSPOSED)) else 1
    taps = weight[0, 0].numel()
    first, second = weight.shape[0] // groups, weight.shape[1]
    return (first * taps, second * taps) if isinstance(module, _TRANSPOSED) else (second * taps, first * taps)


@torch.no_grad()
def init_model_(
    model: nn.Module,
    *,
    linear: Literal["xavier", "kaiming", "trunc"] = "xavier",
    generator: torch.Generator | None = None,
) -> Report:
    """Kaiming (fan out, ReLU) for convolutions of any kind, 1 and 0 for norms, `linear` for linear layers, biases 0.

    In place, so that an optimizer made before stays valid. Use `linear="kaiming"` for a deep stack of Linear + ReLU,
    in which Xavier's signal dies out; "trunc" is the normal of std 0.02 of transformers, also used for embeddings.
    A linear layer that is tied to another module's weight is set once. The report names what no rule covers.

    >>> print(init_model_(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8, affine=False), nn.PReLU())))
        1 x kaiming normal, fan out
        1 x zeros
        1 x left as they were: 2.weight
    """
    _args.one_of("init_model_", "linear", linear, ("xavier", "kaiming", "trunc"))
    _wants.kind("init_model_", nn.Module, "an nn.Module", model=model)
    _wants.kind("init_model_", (torch.Generator, type(None)), "a torch.Generator or None", generator=generator)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    _refuse_lazy(model)
    done: dict[str, str] = {}
    for module in model.modules():
        for parameter, how in _init_module(module, linear, generator):
            done.setdefault(names[id(parameter)], how)
    return Report(done, [name for name in names.values() if name not in done])


def _refuse_lazy(model: nn.Module) -> None:
    for name, parameter in model.named_parameters():
        if isinstance(parameter, UninitializedParameter):
            raise TypeError(
                f"init_model_: {name!r} is lazy and has no shape yet; run one batch through the model first."
            )


def _init_module(module: nn.Module, linear: str, generator: torch.Generator | None) -> list[tuple[nn.Parameter, str]]:
    how = ""
    if isinstance(module, (*_CONVS, *_TRANSPOSED)):
        nn.init.normal_(module.weight, std=(2.0 / fans(module)[1]) ** 0.5, generator=generator)
        how = "kaiming normal, fan out"
    elif isinstance(module, nn.Linear):
        how = _init_linear(module, linear, generator)
    elif isinstance(module, nn.Embedding) and linear == "trunc":
        nn.init.trunc_normal_(module.weight, std=0.02, generator=generator)
        how = "truncated normal, std 0.02"
        if module.padding_idx is not None:
            module.weight[module.padding_idx].zero_()
    elif isinstance(module, _NORMS) and isinstance(module.weight, nn.Parameter):
        nn.init.ones_(module.weight)
        how = "ones"
    if not how:
        return []
    done = [(module.weight, how)] if isinstance(module.weight, nn.Parameter) else []
    bias = getattr(module, "bias", None)
    if isinstance(bias, nn.Parameter):
        nn.init.zeros_(bias)
        done.append((bias, "zeros"))
    return done


def _init_linear(module: nn.Linear, linear: str, generator: torch.Generator | None) -> str:
    if linear == "xavier":
        nn.init.xavier_normal_(module.weight, generator=generator)
        return "xavier normal"
    if linear == "kaiming":
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu", generator=generator)
        return "kaiming normal, fan in"
    nn.init.trunc_normal_(module.weight, std=0.02, generator=generator)
    return "truncated normal, std 0.02"


@torch.no_grad()
def zero_residual_(model: nn.Module) -> list[str]:
    """Set the last norm's weight of each residual branch to 0, so that a deep net starts as the identity.

    Knows blocks by the names torchvision and timm give: in a module that has `conv1` and `conv2`, the last of
    `bn3`, `bn2` (or `norm3`, `norm2`). Returns the names it set, and raises if there were none.

    >>> import torchvision
    >>> len(zero_residual_(torchvision.models.resnet18()))
    8
    """
    _wants.kind("zero_residual_", nn.Module, "an nn.Module", model=model)
    done = []
    for name, module in model.named_modules():
        parts = dict(module.named_children())
        if "conv1" not in parts or "conv2" not in parts or "layer1" in parts:
            continue
        last = next((key for key in ("bn3", "norm3", "bn2", "norm2") if key in parts), None)
        weight = getattr(parts[last], "weight", None) if last else None
        if isinstance(weight, nn.Parameter):
            weight.zero_()
            done.append(f"{name}.{last}.weight")
    if not done:
        raise ValueError(
            f"zero_residual_: model is a {type(model).__name__} without a block of conv1, conv2 and bn2 or bn3; set the "
            "weight of your branches' last norm to 0 yourself."
        )
    return done


@torch.no_grad()
def init_from_(module: nn.Module, **tensors: Tensor) -> None:
    """Copy given tensors into the module's parameters and buffers, with a check of names and shapes.

    In place: an optimizer made before keeps training them, and the source is not aliased. A dotted name is passed as
    `**{"0.weight": tensor}`.

    >>> layer = nn.Linear(2, 1)
    >>> init_from_(layer, weight=torch.tensor([[1.0, 2.0]]))
    >>> layer.weight.tolist()
    [[1.0, 2.0]]
    """
    _wants.kind("init_from_", nn.Module, "an nn.Module", module=module)
    _wants.kind("init_from_", Tensor, "a tensor", **{f"tensors[{name!r}]": tensor for name, tensor in tensors.items()})
    there: Mapping[str, Tensor] = dict(module.named_parameters()) | dict(module.named_buffers())
    for name, tensor in tensors.items():
        if name not in there:
            raise ValueError(
                f"init_from_: tensors names {name!r}, but {type(module).__name__} has {', '.join(there) or 'nothing'}."
            )
        if there[name].shape != tensor.shape:
            raise ValueError(
                f"init_from_: {name!r} has shape {tuple(there[name].shape)}, the given tensor {tuple(tensor.shape)}; "
                "they must be equal."
            )
    for name, tensor in tensors.items():
        there[name].copy_(tensor)
