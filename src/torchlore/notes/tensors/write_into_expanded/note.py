"""The elements of an expanded tensor share memory: a write to one is a write to all.

`t.expand(64, 512, 7, 7)` copies nothing: the new dimensions have stride 0, and 49 places are one number. That is what
makes it cheap, and why `mask = row.expand(n, -1); mask[0, 3] = True` sets column 3 of every row. In-place operations on
the whole tensor (`add_`) raise; a write to single elements does not.

Read from expanded tensors as much as you like. Before writing give each element its own memory: `.expand(...).clone()`,
or `.repeat(...)`, which copies at once. To add dimensions for reading, index with None: `t[:, :, None, None].expand(-1,
-1, 7, 7)`, which is `torchlore.recipes.tensors.expand_map(t, 7, 7)`.
"""

import ast
from collections.abc import Iterator
from typing import Annotated, Any

from torchlore.check import edits, grouped, scopes, values
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ("tensor-expand",)
SOURCES = ("003:151-155",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    from torchlore.notes.proof import error_of
    from torchlore.recipes.tensors import expand_map

    assert good["visible"] == [2, 3, 4]
    assert bad["visible"] == [2, 2, 2]  # every sample got the shortest one's mask

    t = torch.rand(64, 512, device=device)
    wide = torch.reshape(t, (64, 512, 1, 1)).expand(64, 512, 7, 7)
    assert wide.stride() == (512, 1, 0, 0)
    assert wide.data_ptr() == t.data_ptr()
    assert torch.equal(wide, t[:, :, None, None].expand(-1, -1, 7, 7))
    assert torch.equal(wide, expand_map(t, 7, 7))
    assert error_of(lambda: wide.add_(1)) == "RuntimeError"


_EXPANDS = {"expand", "expand_as", "broadcast_to"}

WORDS = ("expand|expand_as|broadcast_to",)


def find(source: Source) -> Iterator[Hit]:
    for node in grouped.stored(source):
        if (call := _expanded(source, node.value)) is not None:
            code = source.code(node.value)
            message = (
                f"`{code}` was expanded (line {call.lineno}): its repeated elements are one number in memory, and this "
                f"write changes all of them; add `.clone()` to the expand"
            )
            yield source.hit(node, message, edits.append(source, call, ".clone()"))


def _expanded(source: Source, tensor: ast.expr, hops: int = 6) -> ast.Call | None:
    """The expand that gave this tensor, if nothing has copied it since."""
    if isinstance(tensor, ast.Name) and hops:
        found = {
            _expanded(source, one.value, hops - 1) if one.value and not one.path else None
            for one in scopes.reaching(source, tensor)
        }
        return found.pop() if len(found) == 1 else None
    if not isinstance(tensor, ast.Call) or not isinstance(tensor.func, ast.Attribute):
        return None
    by_method = tensor.func.attr in _EXPANDS and values.sure(source, tensor.func.value, "tensor")
    return tensor if by_method or source.name(tensor.func) == "torch.broadcast_to" else None


def watch(call: Annotated[Call, "__setitem__"]) -> Alarm | None:
    tensor = call.args[0]
    shared = [
        dim
        for dim, (size, step) in enumerate(zip(tensor.shape, tensor.stride(), strict=True))
        if size > 1 and step == 0
    ]
    if not shared:
        return None
    message = (
        f"this writes into an expanded tensor of shape {tuple(tensor.shape)}, whose dimension {shared[0]} is one number "
        "repeated, so all of them change: add `.clone()` to the expand"
    )
    return Alarm(message)
