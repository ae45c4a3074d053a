"""A list that gets the same tensor in every turn holds it many times, with its last values.

`path.append(x)` stores no copy. If `x` is then changed in place (`x += v`, `x[i] = 0`, `x.mul_(0.9)`), every entry
changes with it, and at the end all of them are equal. `x = x + v` makes a new tensor and would be fine: the two differ
in one character. Replay buffers, trajectories and collected hidden states fall into this.

Store a copy, `path.append(x.clone())` (`.copy()` for an array), or bind the name anew: `x = x + v`.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, follow, scopes, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/pytorch/rl/pull/1331",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert good["path"] == [0.0, 1.0, 2.0, 3.0]
    assert bad["path"] == [4.0, 4.0, 4.0, 4.0]


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("append", "appendleft", "put"):
        loops = tree.loops(source, call)
        for given in (part for arg in call.args for part in (arg.elts if isinstance(arg, ast.Tuple) else [arg])):
            if not loops or not isinstance(given, ast.Name):
                continue
            bound = [one for one in scopes.reaching(source, given) if one.how != "aug"]
            outside = bound and not any(tree.inside(source, one.statement, loops[0]) for one in bound)
            if not outside or not values.sure(source, given, "tensor", "ndarray"):
                continue
            change = _changed(source, given, loops[0])
            if change is not None:
                copy = "copy" if values.sure(source, given, "ndarray") else "clone"
                message = (
                    f"every entry is the same `{given.id}`, which line {change.lineno} changes in place: append "
                    f"`{given.id}.{copy}()`"
                )
                yield source.hit(call, message, edits.append(source, given, f".{copy}()"))


def _changed(source: Source, name: ast.Name, loop: ast.AST) -> ast.stmt | None:
    """The statement of the loop that changes the tensor in place."""
    for node in tree.body_nodes(loop):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name.id:
            return node
        stored = (
            isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and source.code(node.value) == name.id
        )
        method = follow.method(node)
        called = method.endswith("_") and not method.startswith("_") and source.code(tree.receiver(node)) == name.id  # type: ignore[arg-type]  # a Call
        if stored or called:
            return tree.statement(source, node)
    return None
