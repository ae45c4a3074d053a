"""The rule of accuracy-over-batches."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import dims, follow, iteration, tallies, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_BATCHES = regex(r"(^|[._])(mini_?)?batches$")
_SIZE = regex(r"^len\(\w+\)$|\.size\(0\)$|\.shape\[0\]$")


def find(source: Source) -> Iterator[Hit]:
    for one in tallies.tallies(source):
        if one.kind != "count":
            continue
        walked = iteration.unwrapped(source, one.loop.iter)
        if (
            one.by == "batches"
            and "oader" in source.text
            and values.sure(source, walked, "loader", weak=True)
            and not (_one_sample(source, walked) or _divided_again(source, one.division))
        ):
            yield source.hit(
                one.division,
                f"`{one.name}` counts samples and `len({one.over})` batches: divide by `len({one.over}.dataset)`",
                severity=None if values.sure(source, walked, "loader") else "warning",  # called one, may be a list
            )
        if one.by == "turns" and _several(source, walked):
            below = source.code(one.below) if one.below is not None else "it"
            told = f"`{one.name}` counts samples and `{below}` batches: add the batch's size, `len(y)`, to `{below}`"
            yield source.hit(one.division, told, severity="warning")
    yield from _elements(source)
    yield from _full_batches(source)
    for size in source.calls("len"):
        loader = size.args[0] if size.args else None
        up = source.parents[size]
        if not isinstance(up, ast.BinOp) or not isinstance(up.op, ast.Div) or up.right is not size:
            continue
        count = next((one for one in ast.walk(up.left) if isinstance(one, ast.Name) and _counts(source, one)), None)
        if count is None or not isinstance(loader, ast.Name | ast.Attribute | ast.Subscript):
            continue
        sure = values.sure(source, loader, "loader", weak=True)
        if sure and not _one_sample(source, loader) and not _divided_again(source, up):
            code = source.code(loader)
            told = f"`{count.id}` counts samples and `len({code})` batches: divide by `len({code}.dataset)`"
            yield source.hit(up, told, severity=None if values.sure(source, loader, "loader") else "warning")


def _divided_again(source: Source, mean: ast.AST) -> bool:
    """Whether the quotient is divided by the size of a batch too."""
    up = source.parents[mean]
    return isinstance(up, ast.BinOp) and isinstance(up.op, ast.Div) and up.left is mean


def _full_batches(source: Source) -> Iterator[Hit]:
    """`right / (len(loader) * batch_size)`: the last batch is not a full one."""
    for mean in (one for one in source.all(ast.BinOp) if isinstance(one.op, ast.Div)):
        product = mean.right if isinstance(mean.right, ast.BinOp) and isinstance(mean.right.op, ast.Mult) else None
        for size, other in ((product.left, product.right), (product.right, product.left)) if product else ():
            loader = size.args[0] if isinstance(size, ast.Call) and source.name(size.func) == "len" else None
            if not isinstance(loader, ast.Name | ast.Attribute) or not re.search("batch", source.code(other).lower()):
                continue
            if not any(isinstance(one, ast.Name) and _counts(source, one) for one in ast.walk(mean.left)):
                continue
            made = values.made_by(source, loader, "torch.utils.data.DataLoader")
            dropped = made is not None and isinstance(made.node, ast.Call) and not tree.lacks(made.node, 8, "drop_last")
            if not dropped and values.sure(source, loader, "loader", weak=True):
                code = source.code(loader)
                told = f"the last batch of `{code}` may be a short one, so this counts samples that are not there: divide by `len({code}.dataset)`"
                yield source.hit(mean, told, severity="warning")


def _elements(source: Source) -> Iterator[Hit]:
    """`hits += (pred == y).sum()` of maps of labels, divided by `seen`, which grows by the number of maps."""
    grown = [one for one in source.all(ast.AugAssign) if _plus(one)]
    if not grown or "==" not in source.text or "+=" not in source.text:
        return
    for mean in (one for one in source.all(ast.BinOp) if isinstance(one.op, ast.Div)):
        above = [one for one in ast.walk(mean.left) if isinstance(one, ast.Name)]
        if len(above) != 1 and not (len(above) == 2 and above[0].id == "float"):
            continue
        seen, home = mean.right, tree.function(source, mean)
        hits = [
            one.value for one in grown if tree.dotted(one.target) == above[-1].id and tree.function(source, one) is home
        ]
        if not hits:
            continue
        added = [one for one in grown if tree.dotted(one.target) == tree.dotted(seen)]
        sizes = [one.value for one in added if tree.function(source, one) is home]
        whole = _all_samples(source, seen)
        if not (whole or sizes) or not all(_SIZE.search(source.code(one)) for one in sizes):
            continue
        sides = [side for one in hits for side in _compared(source, one)]
        if any(_is_map(source, side) for side in sides):
            code = source.code(sides[-1])
            way = (
                f"divide by the labels in all samples, `{code}.size(1)` times as many"
                if whole
                else f"add `{code}.numel()` to that"
            )
            told = f"`{above[-1].id}` counts each element of `{code}`, and `{source.code(seen)}` its samples: {way}"
            yield source.hit(mean, told)


def _all_samples(source: Source, node: ast.expr) -> bool:
    """`len(loader.dataset)`, or the length of a data set, under a name too."""
    size = follow.followed(source, node)
    of = size.args[0] if isinstance(size, ast.Call) and source.name(size.func) == "len" and size.args else None
    return of is not None and (
        (isinstance(of, ast.Attribute) and of.attr == "dataset") or values.sure(source, of, "dataset")
    )


def _is_map(source: Source, node: ast.expr) -> bool:
    """Several labels for a sample: (N, 8, 8), not (N) nor (N, 1)."""
    shape = values.shape(source, node)
    if shape is not None and None not in shape:
        return len(shape) > 1 and any(size != 1 for size in shape[1:])
    return (dims.dims(source, node) or 0) > 2


def _plus(one: ast.AugAssign) -> bool:
    return isinstance(one.op, ast.Add)


def _compared(source: Source, count: ast.expr) -> list[ast.expr]:
    """`pred` and `y` of `(pred == y).sum().item()`, where the sum goes over all of it."""
    if not _is_count(source, count):
        return []
    sums = [one for one in ast.walk(count) if follow.method(one) == "sum" and isinstance(one, ast.Call)]
    whole = all(not one.keywords and (not one.args or source.name(one.func)) for one in sums)
    equal = next((one for one in ast.walk(count) if isinstance(one, ast.Compare)), None)
    return [equal.left, *equal.comparators] if whole and equal is not None else []


def _counts(source: Source, name: ast.Name) -> bool:
    """Whether every `name += ...` adds the number of equal elements."""
    home = tree.function(source, name)
    sums = tree.under(source, home or source.tree, ast.AugAssign)
    added = [one.value for one in sums if isinstance(one.target, ast.Name)
             and one.target.id == name.id and tree.function(source, one) is home]  # fmt: skip
    return bool(added) and all(_is_count(source, one) for one in added)


def _is_count(source: Source, node: ast.expr) -> bool:
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("item", "float", "cpu", "numpy")
    ):
        return _is_count(source, node.func.value)
    if not isinstance(node, ast.Call):
        return False
    summed = source.name(node.func) in ("torch.sum", "sum", "numpy.sum", "float", "int")
    inner = node.args[0] if summed and node.args else None
    if source.name(node.func) in ("float", "int") and inner is not None:
        return _is_count(source, inner)
    if isinstance(node.func, ast.Attribute) and node.func.attr == "sum" and not source.name(node.func):
        inner = node.func.value
    while (
        isinstance(inner, ast.Call)
        and isinstance(inner.func, ast.Attribute)
        and inner.func.attr in ("cpu", "float", "int", "detach")
    ):
        inner = inner.func.value
    equal = isinstance(inner, ast.Compare) and isinstance(inner.ops[0], ast.Eq)
    return equal or (isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "eq")


def _several(source: Source, walked: ast.expr) -> bool:
    """Whether each turn gets several samples: of `batches`, or of a loader that is made here with their number."""
    if _BATCHES.search(tree.dotted(walked)):
        return True
    made = [one.node for one in source.values(walked) if one.kind == "loader" and isinstance(one.node, ast.Call)]
    return bool(made) and not _one_sample(source, walked)


def _one_sample(source: Source, loader: ast.expr) -> bool:
    """Whether the loader's batches hold one sample, so that both counts are the same."""
    made = [one.node for one in source.values(loader) if isinstance(one.node, ast.Call)]
    return any(
        tree.lacks(one, 1, "batch_size") or tree.literal(tree.argument(one, 1, "batch_size")) in (1, None)
        for one in made
    )
