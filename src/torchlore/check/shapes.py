"""Shapes through indexing, matrix products and batches; None wherever a size or a rank cannot be told."""

from __future__ import annotations

import ast
from typing import TypeVar

from torchlore.check.tree import literal

Held = TypeVar("Held")
Shape = tuple[int | str | None, ...]
_SOME = "N"  # a size that is there and not known


def cut(shape: Shape | None, index: ast.expr, rank: int | None) -> Shape | None:
    """The shape of `x[index]`; `rank` is that of a tensor of indices, 0 for a number, None where it is unknown."""
    if not shape or shape[0] is None:
        return None
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if len(parts) == 1 and not isinstance(parts[0], ast.Slice) and not isinstance(literal(parts[0]), int):
        return None if rank is None or rank > 1 else (*((_SOME,) if rank else ()), *shape[1:])
    found: list[int | str | None] = []
    rest = list(shape)
    for part in parts:
        if isinstance(part, ast.Constant) and part.value is None:
            found.append(1)
        elif rest and isinstance(part, ast.Slice):
            found.append(_sliced(rest.pop(0), part))
        elif rest and isinstance(literal(part), int):
            rest.pop(0)
        else:
            return None
    return (*found, *rest)


def _sliced(size: int | str | None, part: ast.Slice) -> int | str | None:
    if part.lower is None and part.upper is None and part.step is None:
        return size
    given = [literal(one) if one is not None else None for one in (part.lower, part.upper, part.step)]
    ends = [one for one in given if one is None or isinstance(one, int)]
    if len(ends) != len(given):
        return _SOME
    if isinstance(size, int):
        left = taken(size, *ends)
        return left if left is not None else _SOME
    first, last = ends[0] or 0, ends[1]
    short = last is not None and last >= 0 and first >= 0 and ends[2] is None
    return last - first if short and last is not None else _SOME


def taken(size: int, start: int | None, stop: int | None, step: int | None) -> int | None:
    """How many of so many a slice takes, whatever the numbers; None for a step of 0, which raises."""
    if step == 0:
        return None
    first, end, by = slice(start, stop, step).indices(max(size, 0))
    return max(0, -((first - end) // by))


def parts(items: tuple[tuple[Held, ...], ...], part: ast.Slice, *, grows: bool) -> tuple[tuple[Held, ...], ...]:
    """What a slice leaves of what a value holds; where nobody knows which are left, each left may be any of them."""
    bounds = [None if one is None else literal(one) for one in (part.lower, part.upper, part.step)]
    ends = [one for one in bounds if one is None or isinstance(one, int)]
    unsure = grows and any(one is not None and one < 0 for one in ends)  # the end of a list is not known
    if len(ends) == len(bounds) and not unsure and ends[2] != 0:
        return items[slice(*ends)]
    return (tuple(one for group in items for one in group),) if items else ()


def product(left: Shape | None, right: Shape | None) -> Shape | None:
    """The shape of `left @ right`, for matrices and vectors."""
    if not left or not right or left[0] is None or right[0] is None or len(right) > 2:
        return None
    return (*left[:-1], *right[1:]) if len(right) == 2 or len(left) > 1 else ()


def common(found: set[Shape | None]) -> Shape | None:
    """What several shapes have in common: sizes that differ are unknown ones; a 1 beside another size tells nothing."""
    known = [one for one in found if one is not None]
    if len(known) != len(found) or len(found) == 1:
        return known[0] if len(found) == 1 and known else None
    if any(one[:1] == (None,) for one in known):
        last = {one[-1] if len(one) > 1 else None for one in known}
        return (None, last.pop()) if len(last) == 1 and None not in last else None
    if len({len(one) for one in known}) != 1:
        return None
    sizes = [set(column) for column in zip(*known, strict=True)]
    mixed = any(len(one) > 1 and 1 in one for one in sizes)
    return None if mixed else tuple(one.pop() if len(one) == 1 else _SOME for one in sizes)


def batched(shape: Shape | None) -> Shape | None:
    """The shape of a batch of samples of this shape."""
    return (_SOME, *shape) if shape is not None and None not in shape[:1] else None


def sampled(shape: Shape | None) -> Shape | None:
    """The shape of a batch drawn from the rows of a tensor."""
    return (_SOME, *shape[1:]) if shape and shape[0] is not None else None
