"""The rule of mean-over-the-masked."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, scopes, tree
from torchlore.check.source import Hit, Source


def find(source: Source) -> Iterator[Hit]:
    if "masked_fill" not in source.text:
        return
    for division in source.all(ast.BinOp):
        if not isinstance(division.op, ast.Div):
            continue
        count = _sum(source, division.right)
        total = _sum(source, division.left)
        filled = _filled(source, total) if count is not None and total is not None else None
        if count is None or filled is None or not _same(source, count, filled):
            continue
        code = source.code(filled)
        told = f"what is summed was set to 0 where `{code}`, and this counts just those places: divide by `(~{code}).sum()`"
        at = follow.followed(source, division.right)
        yield source.hit(at if isinstance(division.right, ast.Name) else division, told)


def _sum(source: Source, node: ast.expr) -> ast.expr | None:
    """`x` of `x.sum(...)`, also behind a name, `clamp`, `float` or `max`."""
    whole = follow.followed(source, node)
    while isinstance(whole, ast.Call) and follow.method(whole) in (
        "clamp",
        "clamp_min",
        "float",
        "to",
        "unsqueeze",
        "clip",
    ):
        whole = tree.receiver(whole)
    if not isinstance(whole, ast.Call):
        return None
    if source.name(whole.func) == "torch.sum":
        return whole.args[0] if whole.args else None
    return tree.receiver(whole) if follow.method(whole) == "sum" and not source.name(whole.func) else None


def _filled(source: Source, node: ast.expr) -> ast.expr | None:
    """The mask of `x.masked_fill(mask, 0)` that a value comes out of."""
    whole = node
    if isinstance(node, ast.Name):
        bound = scopes.reaching(source, node)
        whole = bound[0].value if len(bound) == 1 and bound[0].how == "assign" and bound[0].value else node
    zero = isinstance(whole, ast.Call) and follow.method(whole) == "masked_fill" and len(whole.args) == 2
    return whole.args[0] if zero and isinstance(whole, ast.Call) and tree.literal(whole.args[1]) == 0 else None


def _same(source: Source, count: ast.expr, mask: ast.expr) -> bool:
    """Whether the very mask is counted: one name with one value, the same expression."""
    if source.code(count) != source.code(mask) or not isinstance(mask, ast.Name | ast.Attribute):
        return False
    both = [node for node in (count, mask) if isinstance(node, ast.Name)]
    bound = [scopes.reaching(source, node) for node in both]
    return len(bound) < 2 or bound[0] == bound[1]
