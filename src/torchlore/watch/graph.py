"""Questions about tensors and their graphs. None of them changes anything or draws a random number."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from torchlore.watch.pictures import Place, Values

BORN = "torchlore born"  # the line of an activation, in its node's metadata

VIEWS = frozenset(
    [
        "view",
        "reshapealias",
        "squeeze",
        "unsqueeze",
        "t",
        "transpose",
        "permute",
        "tocopy",
        "unsafeview",
        "select",
        "slice",
        "expand",
        "clone",
        "alias",
        "index",
    ]
)


def plain(node: Any) -> str:
    """`SoftmaxBackward0` -> `softmax`."""
    return re.sub(r"Backward\d*$", "", node.name().rpartition("::")[2]).lower() if node is not None else ""


def made_by(tensor: Any, *, factors: bool = False) -> str:
    """The operation that made this tensor, looking through at most six views and casts (and factors); "" for a leaf."""
    node = tensor.grad_fn if isinstance(tensor, Tensor) else None
    for _ in range(6):
        if node is None or not (plain(node) in VIEWS or (factors and _is_scaled(node))):
            break
        node = next(one for one, _ in node.next_functions if one is not None)
    name = _by_hand(node) or plain(node)
    return "" if name in {"torch::autograd::accumulategrad", "accumulategrad"} else name


def born(tensor: Any) -> Place | None:
    """The line of the activation that made this tensor, where a deep step has seen it, through six views at most."""
    node: Any = tensor.grad_fn if isinstance(tensor, Tensor) else None
    for _ in range(6):
        if node is None or BORN in node.metadata or plain(node) not in VIEWS:
            break
        node = next(one for one, _ in node.next_functions if one is not None)
    return node.metadata.get(BORN) if node is not None else None


def _by_hand(node: Any) -> str:
    """`sigmoid` for 1 / (1 + exp(-x)), `softmax` for exp(x) / exp(x).sum(); "" for all else."""
    while plain(node) == "mul" and _is_scaled(node):
        node = next(one for one, _ in node.next_functions if one is not None)
    below = [one for one, _ in node.next_functions if one is not None] if node is not None else []
    if plain(node) == "reciprocal" and plain(below[0]) == "add":
        inner = [plain(one) for one, _ in below[0].next_functions if one is not None]
        return "sigmoid" if inner == ["exp"] else ""
    if plain(node) == "div" and len(below) == 2 and plain(below[0]) == "exp" and plain(below[1]) == "sum":
        return "softmax" if below[1].next_functions[0][0] is below[0] else ""
    return ""


def _is_scaled(node: Any) -> bool:
    """A product with, or a quotient by, what has no graph."""
    return plain(node) in ("mul", "div", "neg") and sum(one is not None for one, _ in node.next_functions) == 1


def nodes(tensor: Tensor, limit: int = 20_000) -> Iterator[Any]:
    """The nodes of the graph behind a tensor, from its root, each once."""
    seen, stack = set[Any](), [tensor.grad_fn]
    while stack and len(seen) < limit:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        yield node
        stack.extend(following for following, _ in node.next_functions)


def innermost(node: Any, limit: int = 200) -> Any:
    """The last node on the way from the loss to the input, following first arguments: it lives as long as activations do."""
    for _ in range(limit):
        following = next((one for one, _ in node.next_functions if one is not None and one.next_functions), None)
        if following is None:
            break
        node = following
    return node


def leaves(tensor: Tensor) -> dict[int, weakref.ref[Tensor]]:
    """Id -> weak reference, of every leaf the tensor depends on."""
    return walk(tensor)[0]


def walk(tensor: Tensor) -> tuple[dict[int, weakref.ref[Tensor]], int]:
    """The leaves of a tensor's graph, and how many nodes it has."""
    found, count = dict[int, weakref.ref[Tensor]](), 0
    for node in nodes(tensor):
        count += 1
        if (leaf := getattr(node, "variable", None)) is not None:
            found[id(leaf)] = weakref.ref(leaf)
    return found, count


def tensors_in(thing: Any, depth: int = 4) -> Iterator[Tensor]:
    """The tensors in nested lists, tuples and dicts, in order."""
    if isinstance(thing, Tensor):
        yield thing
    elif isinstance(thing, Mapping) and depth:
        for value in thing.values():
            yield from tensors_in(value, depth - 1)
    elif isinstance(thing, list | tuple) and depth:
        for value in thing:
            yield from tensors_in(value, depth - 1)


def waits(tensor: Tensor) -> bool:
    """Whether reading the tensor's values would make the program wait for a device, or cannot be done at all."""
    return tensor.device.type != "cpu" or tensor.is_sparse or tensor.is_quantized or _is_special(tensor)


def _is_special(tensor: Tensor) -> bool:
    return type(tensor) not in (Tensor, nn.Parameter) or torch._C._functorch.is_functorch_wrapped_tensor(tensor)  # noqa: SLF001 - no public question


def values(tensor: Any) -> Values | None:
    """A few numbers about a floating-point tensor on the CPU, of at most about a million of its values; else None."""
    if not isinstance(tensor, Tensor) or not tensor.is_floating_point() or waits(tensor) or not tensor.numel():
        return None
    with torch.no_grad():
        data = tensor.detach()
        while data.numel() > 1_000_000 and data.dim() and data.size(0) > 1:
            data = data[: max(1, data.size(0) // 2)]
        data = data.float()
        low, high = (float(one) for one in data.aminmax())
        finite = bool(torch.isfinite(data).all())
        rows = data.sum(1 if data.dim() > 2 else -1) if data.dim() > 1 else data
        one = data.dim() > 1 and low >= 0 and bool((rows - 1).abs().max() < 1e-3)
        std = float(data.std(correction=0))
        return Values(low, high, float(data.mean()), std, finite, one)


def norms(tensors: Mapping[str, Tensor | None]) -> dict[str, float] | None:
    """Norm of each tensor; None where reading them would make the program wait for a device."""
    there = {name: tensor.detach() for name, tensor in tensors.items() if tensor is not None and not tensor.is_sparse}
    if not there:
        return {}
    if not all(tensor.is_cpu for tensor in there.values()):
        return None
    with torch.no_grad():
        found = torch._foreach_norm(list(there.values()))  # noqa: SLF001 - one kernel for all; optimizers use it too
    return dict(zip(there, (float(one) for one in found), strict=True))


def mode_sensitive(module: nn.Module | None) -> list[tuple[str, nn.Module]]:
    """Dropout layers that drop and batch-norm layers that keep statistics, by name."""
    if module is None:
        return []
    return [(name, one) for name, one in module.named_modules() if _minds_mode(one)]


def _minds_mode(module: nn.Module) -> bool:
    if isinstance(module, _DropoutNd):
        return module.p > 0
    if isinstance(module, nn.RNNBase):
        return bool(module.dropout > 0 and module.num_layers > 1)
    if isinstance(module, nn.MultiheadAttention):
        return bool(module.dropout > 0)
    return isinstance(module, _BatchNorm) and module.track_running_stats


def first_nonfinite(tensor: Tensor) -> str:
    """Which operation of the graph first saw a value that is not finite, told from what the graph saved."""
    order = list(nodes(tensor))
    leaves_now = [leaf for node in order if (leaf := getattr(node, "variable", None)) is not None]
    bad = [tuple(leaf.shape) for leaf in leaves_now if not bool(torch.isfinite(leaf).all())]
    if bad:
        return f"{len(bad)} parameters are not finite already, the first of shape {bad[0]}"
    for node in reversed(order):
        for name in dir(node):
            if not name.startswith("_saved_"):
                continue
            try:
                saved = getattr(node, name)
            except RuntimeError:  # its graph was freed, or the tensor was changed in place since
                continue
            if isinstance(saved, Tensor) and saved.is_floating_point() and not bool(torch.isfinite(saved).all()):
                makers = ", ".join(plain(following) or "a leaf" for following, _ in node.next_functions if following)
                return f"{name.removeprefix('_saved_')} of {plain(node)} is the first value that is not finite, made by {makers}"
    return f"the last operation, {plain(tensor.grad_fn)}, made it out of finite values"
