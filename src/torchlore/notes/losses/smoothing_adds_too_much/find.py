"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, grouped, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_CLASSES = regex(r"size\(|shape\[|num_class|n_class|nclass|num_labels|^k$|^c$", re.IGNORECASE)
_ONE_HOT = regex(r"one_?hot", re.IGNORECASE)
WORDS = ("scatter_|*smooth*|*onehot*|*one_hot*",)


def find(source: Source) -> Iterator[Hit]:
    yield from _over_a_share(source)
    if "smooth" not in source.text and not uses.says(source, "onehot", "one_hot"):
        return
    for whole in grouped.operations(source, ast.Add):
        for kept, added in ((whole.left, whole.right), (whole.right, whole.left)):
            labels, share = _kept(source, kept)
            if labels is None:
                continue
            inverse = (
                isinstance(added, ast.BinOp) and isinstance(added.op, ast.Div) and tree.literal(added.left) in (1, 1.0)
            )
            classes = isinstance(added, ast.BinOp) and _CLASSES.search(source.code(added.right)) is not None
            plain = source.code(added) == share and _ONE_HOT.search(
                source.code(follow.followed(source, labels)) + source.code(labels)
            )
            stable = (
                plain and share in ("eps", "epsilon") and "smooth" not in source.text
            )  # so that no logarithm is of 0
            weights = plain and "weight" in share.lower()  # a blend of weights: 1 for one class, less for the others
            if ((inverse and classes) or plain) and not stable and not weights:
                yield source.hit(
                    whole, f"the labels no longer sum to 1: add `{share}` divided by the number of classes"
                )


def _kept(source: Source, node: ast.expr) -> tuple[ast.expr | None, str]:
    """`y` and `eps` of `(1 - eps) * y`."""
    for one, other in (
        ((node.left, node.right), (node.right, node.left))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
        else ()
    ):
        if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub) and tree.literal(one.left) in (1, 1.0):
            return other, source.code(one.right)
    return None, ""


def _over_a_share(source: Source) -> Iterator[Hit]:
    """`torch.full((n, c), eps / c).scatter_(1, y, 1.0)`: the right class keeps all, and the others get some."""
    for call in source.methods("scatter_"):
        put = tree.argument(call, 2, "value") or tree.argument(call, None, "src")
        made = follow.followed(source, tree.receiver(call))
        full = isinstance(made, ast.Call) and source.name(made.func) in ("torch.full", "torch.full_like")
        fill = tree.argument(made, 1, "fill_value") if full and isinstance(made, ast.Call) else None
        share = follow.followed(source, fill) if fill is not None else None
        if not isinstance(share, ast.BinOp) or not isinstance(share.op, ast.Div) or tree.literal(put) not in (1, 1.0):
            continue
        name = source.code(share.left)
        if re.search(r"eps|smooth|alpha", name, re.IGNORECASE):
            yield source.hit(call, f"the labels no longer sum to 1: write `1 - {name}` at the right class")
