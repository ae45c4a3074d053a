"""The rule of whole-list-in-loop."""

import ast
from collections.abc import Iterator

from torchlore.check import tree
from torchlore.check.source import Hit, Source

WORDS = ("zip",)


def find(source: Source) -> Iterator[Hit]:
    for loop in source.all(ast.For):
        pairs = _pairs(source, loop)
        names = [one for one in tree.body_nodes(loop) if isinstance(one, ast.Name)] if pairs else []
        read = {one.id for one in names if isinstance(one.ctx, ast.Load) and not tree.inside(source, one, loop.iter)}
        idle = [(one, whole) for one, whole in pairs if one not in read and not one.startswith("_")]
        for one, whole in idle:
            use = next((node for node in names if node.id == whole and _adds_all(source, node, loop)), None)
            if use is not None:
                message = (
                    f"every turn reads all of `{whole}`, and its own part `{one}` is never used: write `{one}` here"
                )
                yield source.hit(use, message)
                break


def _pairs(source: Source, loop: ast.For) -> list[tuple[str, str]]:
    """The names of a loop over `zip(...)`, each with the name of the list it walks."""
    call = loop.iter
    if not isinstance(call, ast.Call) or source.name(call.func) != "zip" or not isinstance(loop.target, ast.Tuple):
        return []
    both = zip(loop.target.elts, call.args, strict=False)
    return [(one.id, whole.id) for one, whole in both if isinstance(one, ast.Name) and isinstance(whole, ast.Name)]


def _adds_all(source: Source, node: ast.Name, loop: ast.For) -> bool:
    """Whether the list stands in what a turn adds up, whole or cut by a slice; `len(xs)` and `xs[i]` read something else."""
    up = source.parents[node]
    if tree.inside(source, node, loop.iter) or not isinstance(node.ctx, ast.Load):
        return False
    if isinstance(up, ast.Subscript) and not isinstance(up.slice, ast.Slice):
        return False
    if isinstance(up, ast.Attribute) or (
        isinstance(up, ast.Call) and source.name(up.func) in ("len", "range", "enumerate")
    ):
        return False
    held = tree.statement(source, node)
    grows = isinstance(held, ast.AugAssign) and isinstance(held.op, ast.Add)
    written = isinstance(held, ast.Assign) and isinstance(held.value, ast.BinOp) and isinstance(held.value.op, ast.Add)
    again = written and isinstance(held, ast.Assign) and tree.dotted(held.targets[0]) == tree.dotted(held.value.left)  # type: ignore[attr-defined]  # a sum
    return grows or again
