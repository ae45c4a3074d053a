"""torch.from_numpy shares memory with the array, so a buffer that is filled again changes old tensors.

A reader that fills one array again and again (a camera, a memory map, `readinto`) and keeps `torch.from_numpy(buffer)`
each time ends with a list whose entries are all the last frame. `.float()` saves you only when the array has another
dtype: on a float32 array it returns the same memory.

Copy when the array will be written again: `torch.tensor(buffer)` always copies, so do
`torch.from_numpy(buffer.copy())` and `torchlore.recipes.tensors.from_numpy(buffer)`. `torch.as_tensor` and `from_numpy` never copy without need. A negative stride, as
from `a[::-1]` or `np.flip(a)`, is the one case that says so: `ValueError`, and `.copy()` cures that as well.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, scopes, tree
from torchlore.check.source import Hit, Source

ROWS = ("tensor-from-numpy",)
SOURCES = ("003:85-88",)
TORCH = "2.11, 2.15"
NEEDS = ("numpy",)
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import numpy as np
    import torch

    from torchlore.notes.proof import error_of

    assert good["means"] == [0.0, 1.0, 2.0, 3.0]
    assert bad["means"] == [3.0, 3.0, 3.0, 3.0]  # every frame is the last one

    array = np.arange(3, dtype=np.float32)
    assert error_of(lambda: torch.from_numpy(array[::-1])) == "ValueError"
    assert torch.from_numpy(array[::-1].copy()).tolist() == [2, 1, 0]
    for shared, make in ((True, torch.from_numpy), (True, torch.as_tensor), (False, torch.tensor)):
        assert (make(array).data_ptr() == array.ctypes.data) is shared
    assert torch.from_numpy(array.astype(np.float64)).float().data_ptr() != array.ctypes.data


_FRESH = {"clone", "copy", "cuda", "double", "half", "long", "int", "bfloat16", "contiguous", "sum", "mean", "item"}


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.from_numpy", "torch.as_tensor"):
        array = call.args[0] if call.args else None
        loops = tree.loops(source, call)
        if not isinstance(array, ast.Name) or not loops or call.keywords or not _kept(source, call):
            continue
        loop = loops[0]
        bound = scopes.reaching(source, array)
        outside = bound and not any(tree.inside(source, one.statement, loop) for one in bound)
        if outside and _refilled(source, array.id, loop):
            edit = edits.replace(source, call, f"torch.tensor({array.id})")
            message = (
                f"every tensor kept here shares the memory of `{array.id}`, which is filled again in the next turn: "
                f"write `torch.tensor({array.id})`"
            )
            yield source.hit(call, message, edit)


def _kept(source: Source, call: ast.Call) -> bool:
    """Whether the tensor, or a view of it, is stored in something that outlives the turn."""
    node: ast.AST = call
    while isinstance(up := source.parents[node], ast.Attribute) and isinstance(source.parents[up], ast.Call):
        if up.attr in _FRESH or up.attr == "to":
            return False
        node = source.parents[up]
    if isinstance(up, ast.Call) and isinstance(up.func, ast.Attribute):
        return up.func.attr in {"append", "add", "put", "insert"}
    return isinstance(up, ast.Assign) and isinstance(up.targets[0], ast.Subscript)


def _refilled(source: Source, name: str, loop: ast.AST) -> bool:
    """Whether the loop writes into the array in place."""
    for node in tree.body_nodes(loop):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and source.code(node.value) == name:
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            into = node.func.attr in {"readinto", "copyto", "read_direct"} and node.args
            if (into and name in (source.code(arg) for arg in node.args)) or source.code(node.func) == f"{name}.fill":
                return True
    return False
