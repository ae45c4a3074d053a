"""The rule of length-taken-as-index."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, grouped, tree
from torchlore.check.source import Hit, Source

WORDS = ("self", "size|shape|len")


def find(source: Source) -> Iterator[Hit]:
    sums = ((one.left, one.right) for one in grouped.operations(source, ast.Add))
    for one, rest in (pair for left, right in sums for pair in ((left, right), (right, left))):
        if not isinstance(one, ast.Subscript) or not tree.dotted(one.value).startswith("self."):
            continue
        other = tree.dotted(rest)
        parts = one.slice.elts if isinstance(one.slice, ast.Tuple) else [one.slice]
        lengths = [part for part in parts if other and _length_of(part) == other]
        if lengths:
            code = source.code(lengths[0])
            yield source.hit(
                one, f"`{code}` as an index is one position for all of `{other}`: write the slice, `:{code}`"
            )


def _length_of(node: ast.expr) -> str:
    """`x` of `x.size(1)`, `x.shape[1]` and `len(x)`."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        return tree.dotted(node.value.value)
    if isinstance(node, ast.Call) and follow.method(node) == "size" and len(node.args) == 1:
        return tree.dotted(tree.receiver(node))
    named = isinstance(node, ast.Call) and tree.dotted(node.func) == "len" and len(node.args) == 1
    return tree.dotted(node.args[0]) if named and isinstance(node, ast.Call) else ""
