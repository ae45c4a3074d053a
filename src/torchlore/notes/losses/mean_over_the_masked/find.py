"""The rule of mean-over-the-masked."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import dims, follow, grouped, loaders, scopes, tree, uses, values
from torchlore.check.source import Hit, Source

_MASK = re.compile(r"(^|_)masks?(_f|_float)?$", re.IGNORECASE)
_EACH = re.compile(r"^(w|ws)$|(^|_)(weights|sample_weight|importance)$")
_SHAPES = ("float", "to", "type_as", "unsqueeze", "squeeze", "view", "reshape", "flatten", "double", "int", "long")
WORDS = ("sum|mean",)


def find(source: Source) -> Iterator[Hit]:
    yield from _reduced_before(source)
    if "masked_fill" not in source.text:
        return
    for division in grouped.operations(source, ast.Div):
        count = _sum(source, division.right)
        total = _sum(source, division.left) if count is not None else None
        filled = _filled(source, total) if count is not None and total is not None else None
        if count is None or filled is None or not _same(source, count, filled):
            continue
        code = source.code(filled)
        told = f"what is summed was set to 0 where `{code}`, and this counts just those places: divide by `(~{code}).sum()`"
        at = follow.followed(source, division.right)
        yield source.hit(at if isinstance(division.right, ast.Name) else division, told)


def _reduced_before(source: Source) -> Iterator[Hit]:
    """`(cross_entropy(x, y) * mask).sum() / mask.sum()`: one number for all places, which the mask can take nothing out of."""
    named = uses.says(source, "mask")
    for product in grouped.operations(source, ast.Mult):
        reduced = _is_reduced(source, product)
        for loss, mask in ((product.left, product.right), (product.right, product.left)) if reduced or named else ():
            name = _mask(mask)
            counted = reduced or (name is not None and _is_counted(source, product, name))
            if not counted or not _is_computed(source, loss):
                continue
            name = name or _weights(source, mask)
            if name is None or not _is_one_number(source, loss):
                continue
            if values.shape(source, name) != () and dims.dims(source, name) != 0:
                code = source.code(loss)
                what = f"`{code}`" if len(code) < 60 else "this"
                told = f'{what} is one number for all places, so `{source.code(name)}` tells no place from another: keep a number for each place (`reduction="none"`, `dim=-1`)'
                yield source.hit(product, told, severity="warning")
                break


def _mask(node: ast.expr) -> ast.expr | None:
    while isinstance(node, ast.Call) and follow.method(node) in _SHAPES:
        node = tree.receiver(node)
    return node if _MASK.search(tree.dotted(node).rpartition(".")[2]) else None


def _weights(source: Source, node: ast.expr) -> ast.expr | None:
    """One weight for each sample, by which a loss is multiplied before a mean is taken: a part of the batch, or `weights`."""
    if not isinstance(node, ast.Name):
        return None
    if dims.dims(source, node) == 1 or loaders.hands_out(source, node):
        return node
    bound = scopes.reaching(source, node)
    known = values.kind(source, node) - ({"tensor"} if _of_a_batch(bound) else set())
    free = bool(bound) and all(one.how in ("parameter", "for") for one in bound) and not known
    return node if free and _EACH.search(node.id) and dims.dims(source, node) is None else None


def _of_a_batch(bound: list[scopes.Binding]) -> bool:
    """`w` of `for x, y, w in batches`: one of three things that a loop hands out together."""
    loops = [one.statement for one in bound if one.how == "for" and len(one.path) == 1]
    shared = [loop.target for loop in loops if isinstance(loop, ast.For)]
    return len(shared) == len(bound) and all(isinstance(one, ast.Tuple) and len(one.elts) > 2 for one in shared)


def _is_computed(source: Source, node: ast.expr) -> bool:
    """Whether it is made by a call here: no weight and no plain number."""
    return any(isinstance(one, ast.Call) for one in ast.walk(follow.followed(source, node)))


def _is_one_number(source: Source, node: ast.expr) -> bool:
    """A loss or a sum of all places."""
    return values.sure(source, node, "tensor") and (values.shape(source, node) == () or dims.dims(source, node) == 0)


def _is_reduced(source: Source, product: ast.BinOp) -> bool:
    """Whether the sum or the mean of the product is taken where it stands."""
    up = source.parents[product]
    whole = isinstance(up, ast.Call) and source.name(up.func) in ("torch.sum", "torch.mean")
    return whole or (isinstance(up, ast.Attribute) and up.attr in ("sum", "mean"))


def _is_counted(source: Source, product: ast.BinOp, mask: ast.expr) -> bool:
    """Whether the places of the mask are counted in the same function."""
    home = tree.function(source, product)
    return home is not None and f"{source.code(mask)}.sum(" in source.code(home)


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
