"""A write into x.reshape(...) reaches x only if the reshape happened to be a view.

`reshape` returns a view where the memory allows it and a copy where it does not; so do `flatten`, `contiguous` and
`ravel`. A write into the result works on the tensor you tested with, and silently changes nothing when the input comes
from a `transpose`, a slice or an `expand`.

`view` never copies: it raises instead. It does not need a contiguous tensor, only one whose dimensions can be merged
as asked. So use `reshape` to read, and `view` where the result must stay tied to its source. To write, index the
tensor itself (`x[:, 0] = v`) or write back: `flat = x.reshape(-1).clone(); ...; x = flat.view_as(x)`.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import scopes, tree, values
from torchlore.check.source import Hit, Source

ROWS = ("tensor-reshape-view",)
SOURCES = ("003:111-113", "001:81")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    from torchlore.notes.proof import error_of

    assert bad["masked"] == 0  # the write went into a copy
    assert good["masked"] == 3

    x = torch.zeros(4, 6, device=device)
    assert x.reshape(-1).data_ptr() == x.data_ptr()  # a view here
    assert x.t().reshape(-1).data_ptr() != x.data_ptr()  # a copy here
    assert error_of(lambda: x.t().view(-1)) == "RuntimeError"
    assert x[:, :3].view(2, 2, 3).shape == (2, 2, 3)  # not contiguous, and viewed all the same
    assert not x[:, :3].is_contiguous()


_MAY_COPY = {"reshape", "flatten", "contiguous", "ravel", "reshape_as"}
_COPIES = {"transpose", "permute", "t", "expand", "expand_as", "movedim", "swapaxes", "mT", "T", "flip"}

WORDS = ("reshape|flatten|contiguous|ravel|reshape_as", "|".join(_COPIES))


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods(*_MAY_COPY):
        up = source.parents[call]
        part = isinstance(up, ast.Subscript) and up.value is call and isinstance(up.ctx, ast.Store)
        in_place = isinstance(up, ast.Attribute) and up.attr.endswith("_") and not up.attr.startswith("_")
        write = source.parents[up] if in_place else None
        if part or (isinstance(write, ast.Call) and write.func is up and tree.is_statement(source, write)):
            yield from _judge(source, call)


def _judge(source: Source, call: ast.Call) -> Iterator[Hit]:
    func = call.func
    if not isinstance(func, ast.Attribute):
        return
    if not values.sure(source, func.value, "tensor") or not _scattered(source, func.value):
        return
    code = source.code(func.value)
    message = (
        f"`{code}` is not contiguous, so {func.attr} copies it and the write is lost: index `{code}` itself, or use "
        "`view`, which raises where it cannot share memory"
    )
    yield source.hit(call, message)


def _scattered(source: Source, tensor: ast.expr, hops: int = 6) -> bool:
    """Whether the tensor comes straight from a transpose, a permute or an expand."""
    if isinstance(tensor, ast.Name):
        found = scopes.reaching(source, tensor) if hops else []
        return bool(found) and all(
            one.how == "assign" and not one.path and one.value is not None and _scattered(source, one.value, hops - 1)
            for one in found
        )
    if isinstance(tensor, ast.Call) and isinstance(tensor.func, ast.Attribute):
        return tensor.func.attr in _COPIES
    return isinstance(tensor, ast.Attribute) and tensor.attr in {"T", "mT"}
