"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, losses, origin, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_COUNTS = regex(
    r"^(class_?|label_?)?(count|counts|freq|freqs|frequency|frequencies|bincount|hist)(_per_class|_cls)?$",
    re.IGNORECASE,
)
_POSITIVE = regex(r"(^|_)(n_?|num_?)?(pos|positive|positives)(_|$)", re.IGNORECASE)
_NEGATIVE = regex(r"(^|_)(n_?|num_?)?(neg|negative|negatives)(_|$)", re.IGNORECASE)
WORDS = (f"{losses.SAID}|WeightedRandomSampler",)


def find(source: Source) -> Iterator[Hit]:
    if "weight" not in source.text:
        return
    for loss in losses.loss_calls(source):
        where, home = (loss.made.node, loss.made.source) if loss.made is not None else (loss.call, source)
        if home is source and isinstance(where, ast.Call):
            yield from _asked(source, where)
    for call in source.calls("torch.utils.data.WeightedRandomSampler"):
        drawn = _by_count(source, tree.argument(call, 0, "weights"))
        if drawn is not None:
            told = f"`{source.code(drawn)}` is largest for the most common class, so it is drawn even more often"
            yield source.hit(drawn, f"{told}: weigh by its inverse, `1 / {source.code(drawn)}`")
    known = ("CrossEntropyLoss", "NLLLoss", "BCEWithLogitsLoss")
    for call in source.calls(*(f"torch.nn.{name}" for name in known)):
        yield from _asked(source, call)


def _asked(source: Source, call: ast.Call) -> Iterator[Hit]:
    seen: set[ast.AST] = source.memo.setdefault("weights_favour", set())
    if call in seen:
        return
    seen.add(call)
    ratio = _quotient(source, tree.argument(call, None, "pos_weight"))
    if ratio is not None and _POSITIVE.search(_word(ratio.left)) and _NEGATIVE.search(_word(ratio.right)):
        yield source.hit(
            ratio, "pos_weight is negatives over positives: turned round it makes rare positives count less"
        )
    place = 0 if source.name(call.func).startswith("torch.nn.") and "functional" not in source.name(call.func) else 2
    ratio = _quotient(source, tree.argument(call, place, "weight"))
    binary = source.name(call.func).rpartition(".")[2] in ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits")
    if binary and ratio is not None and _negatives_by_positives(source, ratio):
        told = "as `weight` this counts positives and negatives of a label alike, and balances nothing: pass it as `pos_weight`"
        yield source.hit(call, told)
    elif ratio is not None and _COUNTS.match(_word(ratio.left)) and _is_total(source, ratio):
        yield source.hit(ratio, f"`{source.code(ratio)}` is largest for the most common class: weigh by its inverse")


def _negatives_by_positives(source: Source, ratio: ast.BinOp) -> bool:
    """`num_neg / num_pos`, or `(n - y.sum(0)) / y.sum(0)`."""
    if _NEGATIVE.search(_word(ratio.left)) and _POSITIVE.search(_word(ratio.right)):
        return True
    rest = follow.followed(source, ratio.left)
    return (
        isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.Sub) and ast.dump(rest.right) == ast.dump(ratio.right)
    )


def _by_count(source: Source, node: ast.expr | None, hops: int = 6) -> ast.Subscript | None:
    """`counts[labels]`, or `[counts[y] for y in labels]`, of counts as they are."""
    node = follow.followed(source, node) if node is not None and hops else None
    if isinstance(node, ast.ListComp) and len(node.generators) == 1 and not node.generators[0].ifs:
        node = node.elt
    if isinstance(node, ast.Call):
        bare = follow.method(node) in ("to", "float", "cuda", "type", "double", "tolist")
        inner = (
            tree.receiver(node) if bare else node.args[0] if source.name(node.func) in _WRAPS and node.args else None
        )
        return _by_count(source, inner, hops - 1)
    if not isinstance(node, ast.Subscript) or not _COUNTS.match(_word(node)):
        return None
    name = node.value
    while isinstance(name, ast.Call | ast.Attribute):
        name = name.func if isinstance(name, ast.Call) else name.value
    return node if "/" not in source.code(follow.followed(source, name)) else None


def _quotient(source: Source, node: ast.expr | None) -> ast.BinOp | None:
    """`a / b`, behind names, `torch.tensor(...)`, `.to(device)` and the like."""
    for _ in range(6):
        if node is None:
            return None
        node = follow.followed(source, node)
        home, made = origin.origin(source, node) if isinstance(node, ast.Call) else (source, node)
        node = made if home is source else node
        if isinstance(node, ast.ListComp) and len(node.generators) == 1 and not node.generators[0].ifs:
            node = node.elt
        if isinstance(node, ast.List) and len(node.elts) == 1:
            node = node.elts[0]
        if isinstance(node, ast.BinOp):
            return _unscaled(node)
        if not isinstance(node, ast.Call):
            return None
        method = (
            not source.name(node.func)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("to", "float", "cuda", "type")
        )
        node = (
            tree.receiver(node) if method else node.args[0] if source.name(node.func) in _WRAPS and node.args else None
        )
    return None


def _unscaled(node: ast.BinOp) -> ast.BinOp | None:
    """`a / b` of `a / b * classes` and of `classes * (a / b)`."""
    if isinstance(node.op, ast.Div):
        return node
    sides = [one for one in (node.left, node.right) if isinstance(one, ast.BinOp)]
    return _unscaled(sides[0]) if isinstance(node.op, ast.Mult) and len(sides) == 1 else None


_WRAPS = ("torch.tensor", "torch.as_tensor", "torch.FloatTensor", "torch.Tensor", "torch.from_numpy", "float")


def _is_total(source: Source, ratio: ast.BinOp) -> bool:
    below = source.code(ratio.right)
    return (
        "sum(" in below
        or below.startswith("len(")
        or re.search(r"(^|_)(total|n_samples|num_samples)$", below) is not None
    )


def _word(node: ast.expr) -> str:
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "bincount":
                return "bincount"
            node = node.func.value
        else:
            return tree.dotted(node).rpartition(".")[2]
