"""The rule of cutmix-share-of-the-box."""

import ast
from collections.abc import Iterator

from torchlore.check import flow, grouped, scopes, tree, uses
from torchlore.check.source import Hit, Source

_CLIPS = ("numpy.clip", "torch.clamp", "torch.clip", "max", "min", "numpy.maximum", "numpy.minimum")
WORDS = ("*lam*|beta",)


def find(source: Source) -> Iterator[Hit]:
    for cell in grouped.stored(source):
        held = source.parents[cell]
        pasted = held.value if isinstance(held, ast.Assign) else None
        if not isinstance(pasted, ast.Subscript) or source.code(pasted.value) != source.code(cell.value):
            continue
        bounds = [one for one in ast.walk(cell.slice) if isinstance(one, ast.Name)]
        slices = [one for one in ast.walk(cell.slice) if isinstance(one, ast.Slice) and one.lower and one.upper]
        made = {one.statement for name in bounds for one in scopes.reaching(source, name)}
        box = made.pop() if len(made) == 1 and len(slices) == 2 and len(bounds) >= 4 else None
        call = box.value if isinstance(box, ast.Assign) else None
        inner = flow.called(source, call) if isinstance(call, ast.Call) else None
        if inner is None or not isinstance(call, ast.Call) or not _clips(inner.source, inner.node):
            continue
        for share in (one for one in call.args if isinstance(one, ast.Name)):
            if _weighs(source, share):
                told = f"the box is cut off at the border, and `{share.id}` still is the share of the whole one"
                yield source.hit(call, f"{told}: take it anew from the box that is pasted")


def _clips(source: Source, function: ast.AST) -> bool:
    named = (source.name(one.func) for one in tree.under(source, function, ast.Call))
    return any(name in _CLIPS for name in named) or ".clamp(" in source.code(function)


def _weighs(source: Source, share: ast.Name) -> bool:
    """`criterion(out, a) * lam + criterion(out, b) * (1 - lam)` with the share as it was drawn."""
    drawn = scopes.reaching(source, share)
    home = tree.function(source, share)
    whole, rest = False, False
    for one in uses.names(source, share.id):
        later = isinstance(one.ctx, ast.Load) and one.lineno > share.lineno and tree.function(source, one) is home
        if not later or scopes.reaching(source, one) != drawn:
            continue
        up = source.parents[one]
        turned = isinstance(up, ast.BinOp) and isinstance(up.op, ast.Sub) and tree.literal(up.left) in (1, 1.0)
        product = source.parents[up] if turned else up
        if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
            rest, whole = rest or turned, whole or not turned
    return whole and rest
