"""The rule of straight-through-negated."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, grouped, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

Part = tuple[ast.expr, int]  # a summand and its sign
_HARD = regex(
    r"quanti[sz]|codebook|z_?q|embed|round|arg(?:max|min)|one_?hot|straight|sign\(|hard|binar|sampl|bernoulli",
    re.IGNORECASE,
)  # what makes a choice that has no gradient of its own; without one `x + (y - x)` is a blend whose weight is 1


def find(source: Source) -> Iterator[Hit]:
    yield from _cancelled(source)
    for call in source.methods("detach"):
        whole = _sum(source, call)
        parts = [*_summands(whole)] if whole is not None else []
        if len(parts) != 3 or (call, 1) not in parts:
            continue
        code = source.code(tree.receiver(call))
        soft = next((one for one, sign in parts if sign == -1 and source.code(one) == code), None)
        hard = next((one for one, sign in parts if one is not call and one is not soft and sign == 1), None)
        if soft is None or hard is None or whole is None:
            continue
        fixed = f"{source.code(hard)} + {code} - {code}.detach()"
        told = f"the gradient of `{code}` comes through with the wrong sign: write `{fixed}`"
        yield source.hit(whole, told, edits.replace(source, whole, fixed))


def _cancelled(source: Source) -> Iterator[Hit]:
    """`z + (q - z)` with nothing detached: it is `q`, and no gradient reaches `z`."""
    for whole in grouped.operations(source, ast.Add):
        gap, first = whole.right, whole.left
        if not isinstance(gap, ast.BinOp) or not isinstance(gap.op, ast.Sub) or not isinstance(first, ast.Name):
            continue
        if (
            isinstance(gap.left, ast.Name)
            and tree.dotted(gap.right) == first.id
            and not values.maybe(source, gap.left, "number", "string", "list", "ndarray")
            and _HARD.search(source.code(tree.class_of(source, whole) or tree.function(source, whole) or source.tree))
        ):
            fixed = f"{first.id} + ({gap.left.id} - {first.id}).detach()"
            told = f"`{source.code(whole)}` is `{gap.left.id}`, and no gradient reaches `{first.id}`: write `{fixed}`"
            yield source.hit(whole, told, edits.replace(source, whole, fixed), severity="warning")


def _sum(source: Source, call: ast.Call) -> ast.expr | None:
    """The whole sum in which the call stands."""
    found: ast.expr | None = None
    up: ast.AST = source.parents[call]
    while isinstance(up, ast.BinOp) and isinstance(up.op, ast.Add | ast.Sub):
        found, up = up, source.parents[up]
    return found


def _summands(node: ast.expr, sign: int = 1) -> Iterator[Part]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield from _summands(node.left, sign)
        yield from _summands(node.right, -sign if isinstance(node.op, ast.Sub) else sign)
    else:
        yield node, sign
