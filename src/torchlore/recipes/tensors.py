"""Tensors to and from NumPy and PIL, paired shuffles, one-hot, pairwise distances, and who shares memory with whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from torchlore.recipes import _args, _wants
from torchlore.recipes._images import array_to_pil, from_pil, pil_to_array, to_pil

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

__all__ = [
    "Nearest",
    "array_to_pil",
    "check_shape",
    "copy_of",
    "describe",
    "expand_map",
    "flip",
    "from_numpy",
    "from_pil",
    "nearest",
    "one_hot",
    "pairwise_blocks",
    "pairwise_cosine",
    "pairwise_euclidean",
    "pil_to_array",
    "shares_memory",
    "shuffle_together",
    "to_numpy",
    "to_pil",
]


def to_numpy(tensor: Tensor) -> np.ndarray:
    """The tensor as an array, from any device, with or without a graph; bfloat16 and float8 become float32.

    A plain CPU tensor shares its memory with the array.

    >>> to_numpy(torch.tensor([1.5], requires_grad=True, dtype=torch.bfloat16))
    array([1.5], dtype=float32)
    """
    tensor = tensor.detach()
    if tensor.is_floating_point() and tensor.dtype not in (torch.float16, torch.float32, torch.float64):
        tensor = tensor.float()
    return tensor.numpy(force=True)


def from_numpy(array: np.ndarray, *, dtype: torch.dtype | None = None, copy: bool = True) -> Tensor:
    """The array as a tensor: a copy, or with `copy=False` a view of the same memory, or an error where none exists.

    Takes what `torch.from_numpy` refuses: negative strides, foreign byte order, read-only arrays.

    >>> import numpy as np
    >>> from_numpy(np.arange(3)[::-1]).tolist()
    [2, 1, 0]
    """
    import numpy as np

    _wants.kind("from_numpy", np.ndarray, "a NumPy array", array=array)
    _wants.kind("from_numpy", (torch.dtype, type(None)), "a dtype of torch or None", dtype=dtype)
    if copy:
        owned = np.array(array, dtype=array.dtype.newbyteorder("="), copy=True, order="C")
        tensor = torch.from_numpy(owned)
        return tensor if dtype is None else tensor.to(dtype)
    if any(stride < 0 for stride in array.strides) or not array.dtype.isnative or not array.flags.writeable:
        raise ValueError(
            f"from_numpy: no tensor can share this array's memory (strides {array.strides}, dtype {array.dtype}, "
            f"writeable {array.flags.writeable}); write copy=True."
        )
    tensor = torch.from_numpy(array)
    if dtype is not None and dtype != tensor.dtype:
        raise ValueError(
            f"from_numpy: the array is {tensor.dtype} and dtype is {dtype}; a view cannot change it, write copy=True."
        )
    return tensor


def flip(tensor: Tensor, *dims: int) -> Tensor:
    """The tensor reversed along the dimensions, which `tensor[::-1]` refuses; without dims the last one.

    >>> flip(torch.tensor([1, 2, 3])).tolist()
    [3, 2, 1]
    """
    if not all(-tensor.ndim <= dim < tensor.ndim for dim in dims or (-1,)):
        raise IndexError(
            f"flip: dims are {dims or (-1,)} for a tensor of {tensor.ndim} dimensions; they must be among them."
        )
    return tensor.flip(dims or (-1,))


def shuffle_together(*tensors: Tensor, generator: torch.Generator | None = None) -> tuple[Tensor, ...]:
    """Shuffle the first dimension of all tensors by one permutation, so that images keep their labels.

    >>> a, b = shuffle_together(torch.arange(5), torch.arange(5) * 10)
    >>> torch.equal(a * 10, b)
    True
    """
    if not tensors:
        raise ValueError("shuffle_together: no tensor was given.")
    lengths = [tuple(t.shape[:1]) for t in tensors]
    if len(set(lengths)) > 1 or lengths[0] == ():
        raise ValueError(
            f"shuffle_together: the tensors have shapes {[tuple(t.shape) for t in tensors]}; their first dimensions must be equal."
        )
    device = tensors[0].device if generator is None else generator.device
    order = torch.randperm(tensors[0].shape[0], generator=generator, device=device)
    return tuple(t[order.to(t.device)] for t in tensors)


def one_hot(
    labels: Tensor, num_classes: int, *, ignore_index: int | None = None, dtype: torch.dtype = torch.int64
) -> Tensor:
    """Labels (N, ...) as one-hot (N, C, ...): the class dimension comes second, where losses want it.

    Labels equal to `ignore_index` get a row of zeros. Any other label out of range is an error on the CPU.

    >>> one_hot(torch.tensor([1, 255]), 3, ignore_index=255).tolist()
    [[0, 1, 0], [0, 0, 0]]
    """
    if labels.is_floating_point() or labels.dtype == torch.bool:
        raise TypeError(f"one_hot: labels have dtype {labels.dtype}; they must be integers.")
    if labels.ndim == 0:
        raise ValueError("one_hot: labels have no dimension; they must be (N, ...).")
    labels = labels.long()
    if _args.may_read(labels):
        _args.in_range("one_hot", labels, num_classes, ignore_index)
    keep = None if ignore_index is None else labels != ignore_index
    index = labels if keep is None else torch.where(keep, labels, 0)
    out = torch.zeros(labels.shape[0], num_classes, *labels.shape[1:], dtype=dtype, device=labels.device)
    if keep is None:
        return out.scatter_(1, index.unsqueeze(1), 1)
    return out.scatter_(1, index.unsqueeze(1), keep.unsqueeze(1).to(dtype))


def _check_rows(function: str, first: Tensor, second: Tensor) -> None:
    _args.floating(function, "first", first)
    if first.ndim != 2 or second.ndim != 2 or first.shape[1] != second.shape[1]:
        raise ValueError(
            f"{function}: first has shape {tuple(first.shape)} and second {tuple(second.shape)}; they must be (M, D) and (N, D)."
        )


def pairwise_euclidean(first: Tensor, second: Tensor, *, exact: bool = True) -> Tensor:
    """Euclidean distances (M, N) of rows (M, D) and (N, D); the gradient at distance 0 is 0, not NaN.

    `exact=True` subtracts before it squares. `exact=False` uses a matrix product of centred rows: much faster on a
    GPU, with an absolute error near 0 of about 3e-4 of the rows' length. Memory is M x N in both; `pairwise_blocks`
    and `nearest` bound it.

    >>> pairwise_euclidean(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[5.0, 0.0]]
    """
    _check_rows("pairwise_euclidean", first, second)
    first, second = _args.wide(first), _args.wide(second)
    if exact:
        return torch.cdist(first, second, compute_mode="donot_use_mm_for_euclid_dist")
    middle = second.mean(0).detach() if second.shape[0] else 0.0
    first, second = first - middle, second - middle
    if not torch.is_autocast_enabled(first.device.type):  # entering autocast costs as much as a small kernel
        return _by_product(first, second)
    with torch.autocast(first.device.type, enabled=False):
        return _by_product(first, second)


def _by_product(first: Tensor, second: Tensor) -> Tensor:
    if first.device.type != "cpu" or (torch.is_grad_enabled() and (first.requires_grad or second.requires_grad)):
        return torch.cdist(first, second, compute_mode="use_mm_for_euclid_dist")
    # cdist copies both to put their squares beside them; without a graph the product can start from the squares
    apart = torch.addmm(torch.linalg.vecdot(second, second), first, second.T, alpha=-2.0)
    return apart.add_(torch.linalg.vecdot(first, first).unsqueeze(1)).clamp_min_(0.0).sqrt_()


def pairwise_cosine(first: Tensor, second: Tensor) -> Tensor:
    """Cosines (M, N) of rows (M, D) and (N, D), in [-1, 1]; a row of zeros has cosine 0 and a finite gradient.

    >>> pairwise_cosine(torch.tensor([[2.0, 0.0]]), torch.tensor([[5.0, 0.0], [0.0, 1.0]])).tolist()
    [[1.0, 0.0]]
    """
    _check_rows("pairwise_cosine", first, second)
    first, second = F.normalize(_args.wide(first), dim=1), F.normalize(_args.wide(second), dim=1)
    if not torch.is_autocast_enabled(first.device.type):  # as above
        return (first @ second.T).clamp_(-1.0, 1.0)
    with torch.autocast(first.device.type, enabled=False):
        return (first @ second.T).clamp_(-1.0, 1.0)


def pairwise_blocks(
    first: Tensor,
    second: Tensor,
    *,
    distance: Literal["euclidean", "cosine"] = "euclidean",
    rows: int = 1024,
    exact: bool = True,
) -> Iterator[tuple[slice, Tensor]]:
    """Distances block by block, `rows` rows of `first` at a time: memory stays at rows x N.

    "cosine" gives 1 - cosine.

    >>> [(block.start, tuple(d.shape)) for block, d in pairwise_blocks(torch.rand(5, 2), torch.rand(3, 2), rows=2)]
    [(0, (2, 3)), (2, (2, 3)), (4, (1, 3))]
    """
    _args.one_of("pairwise_blocks", "distance", distance, ("euclidean", "cosine"))
    if rows < 1:
        raise ValueError(f"pairwise_blocks: rows is {rows}; it must be at least 1.")
    _check_rows("pairwise_blocks", first, second)
    for start in range(0, first.shape[0], rows):
        block = slice(start, min(start + rows, first.shape[0]))
        if distance == "cosine":
            yield block, 1.0 - pairwise_cosine(first[block], second)
        else:
            yield block, pairwise_euclidean(first[block], second, exact=exact)


class Nearest(NamedTuple):
    """The k nearest rows: distances and indices, both (M, k), nearest first."""

    distances: Tensor
    indices: Tensor


def nearest(
    first: Tensor,
    second: Tensor,
    k: int = 1,
    *,
    distance: Literal["euclidean", "cosine"] = "euclidean",
    rows: int = 1024,
    exact: bool = True,
) -> Nearest:
    """For each row of `first` its k nearest rows of `second`, in memory of rows x N.

    >>> nearest(torch.tensor([[0.0], [9.0]]), torch.tensor([[1.0], [8.0], [20.0]])).indices.tolist()
    [[0], [1]]
    """
    if not 1 <= k <= second.shape[0]:
        raise ValueError(f"nearest: k is {k}; it must be between 1 and the {second.shape[0]} rows of second.")
    blocks = pairwise_blocks(first, second, distance=distance, rows=rows, exact=exact)
    found = [block.topk(k, dim=1, largest=False) for _, block in blocks]
    if not found:
        return Nearest(first.new_empty(0, k), torch.empty(0, k, dtype=torch.int64, device=first.device))
    return Nearest(torch.cat([f.values for f in found]), torch.cat([f.indices for f in found]))


def expand_map(features: Tensor, height: int, width: int) -> Tensor:
    """(N, C) repeated over (N, C, height, width) without a copy; read-only: write to a `.clone()`.

    >>> expand_map(torch.ones(2, 3), 7, 7).stride()
    (3, 1, 0, 0)
    """
    if features.ndim != 2:
        raise ValueError(f"expand_map: features have shape {tuple(features.shape)}; they must be (N, C).")
    return features[:, :, None, None].expand(-1, -1, height, width)


def copy_of(tensor: Tensor, *, keep_graph: bool = False) -> Tensor:
    """A copy in its own memory: out of the graph, or in it with `keep_graph`.

    `tensor.detach()` shares memory and `tensor + 0` keeps the graph alive; neither is a copy.

    >>> x = torch.ones(2, requires_grad=True)
    >>> (copy_of(x).requires_grad, copy_of(x, keep_graph=True).requires_grad)
    (False, True)
    """
    return tensor.clone() if keep_graph else tensor.detach().clone()


def shares_memory(first: Tensor, second: Tensor) -> bool:
    """Whether the two tensors lie in the same storage and the spans of memory they reach overlap.

    True for `x` and `x.detach()`, `x.view(-1)`, `x[2:]`; False for `x[:2]` and `x[2:]`. Interleaved tensors such as
    `x[::2]` and `x[1::2]` count as sharing: their spans overlap.

    >>> x = torch.arange(4)
    >>> (shares_memory(x, x[2:]), shares_memory(x[:2], x[2:]), shares_memory(x, x.clone()))
    (True, False, False)
    """
    if first.untyped_storage().data_ptr() != second.untyped_storage().data_ptr() or first.device != second.device:
        return False
    (low_1, high_1), (low_2, high_2) = _span(first), _span(second)
    return low_1 < high_2 and low_2 < high_1


def _span(tensor: Tensor) -> tuple[int, int]:
    """First and one past the last byte the tensor reaches in its storage."""
    if tensor.numel() == 0:
        return 0, 0
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    start = int(tensor.storage_offset()) * tensor.element_size()
    return start, start + (reach + 1) * tensor.element_size()


def describe(tensor: Tensor) -> str:
    """One line about a tensor: shape, dtype, device, layout in memory, graph and range.

    >>> describe(torch.zeros(2, 3).T)
    '(3, 2) float32 cpu, strides (1, 3), not contiguous, 0 to 0'
    """
    parts = [f"{tuple(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')} {tensor.device}"]
    if tensor.layout is not torch.strided:
        return f"{parts[0]}, {str(tensor.layout).removeprefix('torch.')}"
    parts.append(f"strides {tensor.stride()}")
    if 0 in [stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if size > 1]:
        parts.append("expanded")
    elif tensor.ndim == 4 and not tensor.is_contiguous() and tensor.is_contiguous(memory_format=torch.channels_last):
        parts.append("channels_last")
    else:
        parts.append("contiguous" if tensor.is_contiguous() else "not contiguous")
    if tensor.requires_grad:
        parts.append("leaf with gradient" if tensor.is_leaf else f"in the graph ({type(tensor.grad_fn).__name__})")
    if tensor.numel() and not tensor.is_complex() and tensor.device.type != "meta":
        low, high = torch.aminmax(tensor.detach().float())
        parts.append(f"{low.item():g} to {high.item():g}")
    return ", ".join(parts)


def check_shape(tensor: Tensor, pattern: str, **sizes: int) -> dict[str, int]:
    """Raise unless the shape fits a pattern such as "N 3 H W"; returns what each letter stands for.

    A number must match, a name is bound (and must be the same each time, and what `sizes` says), `_` fits anything,
    `...` any number of dimensions. Unlike `assert` it stays under `python -O`.

    >>> check_shape(torch.zeros(8, 3, 32, 32), "N 3 H H")
    {'N': 8, 'H': 32}
    """
    words, shape, bound = pattern.split(), list(tensor.shape), dict(sizes)
    if "..." in words:
        place = words.index("...")
        words[place : place + 1] = ["_"] * max(0, len(shape) - len(words) + 1)
    fits = len(words) == len(shape)
    for word, size in zip(words, shape, strict=False):
        fits &= word == "_" or size == (int(word) if word.isdigit() else bound.setdefault(word, size))
    if not fits:
        given = f" with {sizes}" if sizes else ""
        raise ValueError(f"check_shape: the tensor has shape {tuple(shape)}; it must be ({pattern}){given}.")
    return bound
