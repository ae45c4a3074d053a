"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, losses, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_TURNED = {"t", "T", "mT", "transpose", "permute", "swapaxes"}
_LESS = regex(r"exp\(\s*1|math\.e\b|\be\s*\*\*|\.clone\(\)|topk|pop")
_ASIDE = regex(
    r"(?<!torch)\.diag(onal)?\(-?\w[\w.]*\)|diag(onal)?\(\w+, *(offset=)?-?\w+\)"
)  # the positives are taken there
_MASKED = ("diag", "eye(", "masked_fill", "masked_select", "inf", "1e9", "1e4", "mask")
WORDS = (f"{losses.SAID}|sum|logsumexp",)


def find(source: Source) -> Iterator[Hit]:
    for loss in losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy"):
        if loss.input is not None:
            yield from _told(source, loss.input, loss.call)
    if not uses.says(source, "log"):
        return
    for call in source.methods("sum", "logsumexp"):
        word, whole = follow.word(source, call), source.name(call.func).startswith("torch.")
        given = tree.argument(call, 0, "input") if whole else tree.receiver(call)
        if given is None or tree.lacks(call, 1 if whole else 0, "dim"):
            continue
        powers = follow.followed(source, given) if word == "sum" else None
        inside = _power(powers) if powers is not None else given
        around = _around(source, call) if inside is not None else ""
        if inside is not None and "log" in around and not _LESS.search(around):
            yield from _told(source, inside, call)


def _told(source: Source, scores: ast.expr, place: ast.Call) -> Iterator[Hit]:
    product = _product(source, scores)
    text = _ASIDE.sub("", _around(source, place)) if product is not None else ""
    if product is not None and not any(word in text for word in _MASKED):
        code = source.code(product)
        yield source.hit(
            place, f"`{code}` holds the similarity of each sample with itself as a negative: set its diagonal to -inf"
        )


def _around(source: Source, node: ast.AST) -> str:
    home = tree.function(source, node)
    return source.code(home) if home is not None else source.text


def _power(node: ast.expr) -> ast.expr | None:
    """`x` of `torch.exp(x)` and of `x.exp()`."""
    if follow.method(node) != "exp" or not isinstance(node, ast.Call):
        return None
    return node.args[0] if node.args else tree.receiver(node)


def _pairs(source: Source, node: ast.expr) -> bool:
    """`F.cosine_similarity(z.unsqueeze(1), z.unsqueeze(0), dim=2)`."""
    named = isinstance(node, ast.Call) and source.name(node.func).endswith(".cosine_similarity")
    sides = node.args[:2] if isinstance(node, ast.Call) and named else []
    whose = [
        tree.dotted(tree.receiver(one))
        for one in sides
        if isinstance(one, ast.Call) and follow.method(one) == "unsqueeze"
    ]
    whose += [
        tree.dotted(one.value) for one in sides if isinstance(one, ast.Subscript) and "None" in source.code(one.slice)
    ]
    return len(whose) == 2 and bool(whose[0]) and whose[0] == whose[1]


def _product(source: Source, node: ast.expr) -> ast.expr | None:
    """`z @ z.T`, behind names and a temperature."""
    for _ in range(4):
        node = follow.followed(source, node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Mult):
            node = node.left
        else:
            break
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        sides = [node.left, node.right]
    elif isinstance(node, ast.Call) and source.name(node.func) in ("torch.mm", "torch.matmul") and len(node.args) == 2:
        sides = list(node.args)
    else:
        return node if _pairs(source, node) else None
    while follow.method(sides[1]) in ("contiguous", "detach") and isinstance(sides[1], ast.Call):
        sides[1] = tree.receiver(sides[1])
    turned = sides[1].func if isinstance(sides[1], ast.Call) else sides[1]
    same = isinstance(turned, ast.Attribute) and turned.attr in _TURNED and isinstance(sides[0], ast.Name)
    return (
        node
        if same and isinstance(turned, ast.Attribute) and source.code(turned.value) == source.code(sides[0])
        else None
    )
