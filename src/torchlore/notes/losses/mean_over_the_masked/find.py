"""The rule of mean-over-the-masked."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, losses, scopes, tree
from torchlore.check.source import Hit, Source

_MASK = re.compile(r"mask|pad|(^|_)valid$")


def find(source: Source) -> Iterator[Hit]:
    if "mask" not in source.text:
        return
    yield from _means(source)
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


def _means(source: Source) -> Iterator[Hit]:
    """`(loss * mask).mean()` of a loss without reduction: the zeros count."""
    if "none" not in source.text:
        return
    kept = {one.call for one in losses.loss_calls(source) if _is_open(one)}
    for call in (*source.methods("mean"), *source.calls("torch.mean")):
        plain = source.name(call.func) == "torch.mean"
        if len(call.args) != int(plain) or call.keywords or isinstance(source.parents[call], ast.BinOp):
            continue
        product = follow.followed(source, call.args[0] if plain else tree.receiver(call))
        sides = _factors(product)
        for loss, mask in (sides, sides[::-1]):
            name = tree.dotted(_uncast(mask)).rpartition(".")[2].lower() if mask is not None else ""
            if loss is None or not _MASK.search(name) or _bare(source, loss) not in kept:
                continue
            code = source.code(_uncast(mask)) if mask is not None else ""
            told = f"the places that `{code}` sets to 0 count in this mean: write `.sum() / {code}.sum()`"
            yield source.hit(call, told, severity="warning")


def _factors(node: ast.expr) -> tuple[ast.expr | None, ast.expr | None]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return node.left, node.right
    return None, None


def _is_open(loss: losses.LossCall) -> bool:
    given = loss.option("reduction")
    return given is not None and tree.literal(given) == "none"


def _uncast(node: ast.expr | None) -> ast.expr:
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.value if isinstance(node, ast.Subscript) else tree.receiver(node)
    return node if node is not None else ast.Constant(None)


def _bare(source: Source, node: ast.expr) -> ast.expr:
    """The call that gave a loss, through names and views."""
    made = follow.followed(source, node)
    while isinstance(made, ast.Call) and follow.method(made) in ("view", "reshape", "squeeze", "view_as", "float", "sum"):
        made = follow.followed(source, tree.receiver(made))
    return made


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
