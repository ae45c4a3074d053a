"""The rule of codebook-loss-after-straight-through."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, grouped, losses, origin, tree
from torchlore.check.source import Hit, Source

_LOSSES = ("MSELoss", "mse_loss", "L1Loss", "l1_loss", "SmoothL1Loss", "smooth_l1_loss")
WORDS = ("detach",)


def find(source: Source) -> Iterator[Hit]:
    if not any(isinstance(source.parents[one], ast.BinOp | ast.Call | ast.keyword) for one in source.methods("detach")):
        return
    pairs: list[tuple[ast.expr, ast.expr | None, ast.expr | None]] = [
        (one.call, one.input, one.target) for one in losses.loss_calls(source, *_LOSSES)
    ]
    squares = (call for call in source.methods("pow", "square") if isinstance(tree.receiver(call), ast.BinOp))
    powers = grouped.operations(source, ast.Pow)
    for whole, base in [*((one, tree.receiver(one)) for one in squares), *((one, one.left) for one in powers)]:
        if isinstance(base, ast.BinOp) and isinstance(base.op, ast.Sub):
            pairs.append((whole, base.left, base.right))
    for whole, one, other in pairs:
        for value, fixed in ((one, other), (other, one)):
            if value is None or not isinstance(fixed, ast.Call) or follow.method(fixed) != "detach":
                continue
            kept = _passed(source, value)
            if kept is not None and _same(source, tree.receiver(fixed), kept):
                code = source.code(value)
                told = f"`{code}` is the straight-through sum, in which the codes are detached, so the codebook learns nothing here: use the codes themselves"
                yield source.hit(whole, told)
                break


def _passed(source: Source, value: ast.expr) -> origin.Written | None:
    """`z` of `z + (code - z).detach()`, if that is how the value was made."""
    home, node = origin.origin(source, value)
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return None
    for through, cut in ((node.left, node.right), (node.right, node.left)):
        inner = tree.receiver(cut) if isinstance(cut, ast.Call) and follow.method(cut) == "detach" else None
        if (
            isinstance(inner, ast.BinOp)
            and isinstance(inner.op, ast.Sub)
            and ast.dump(inner.right) == ast.dump(through)
        ):
            return home, through
    return None


def _same(source: Source, node: ast.expr, kept: origin.Written) -> bool:
    """Whether the detached side is the very tensor that was passed through."""
    one, other = origin.origin(source, node), origin.origin(*kept)
    return one[0] is other[0] and (one[1] is other[1] or ast.dump(one[1]) == ast.dump(other[1]))
