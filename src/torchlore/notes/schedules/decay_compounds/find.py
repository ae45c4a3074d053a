"""The rule of decay-compounds."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import tree
from torchlore.check.source import Hit, Source

_COUNTER = re.compile(r"^(epoch|ep|e|step|steps|it|iter|iters|iteration|i|t|i_iter|cur_iter|cur_step|cur_epoch|current_step|current_epoch|"
                      r"global_step|n_iter|num_iter|i_epoch|epoch_idx|epoch_num|curr_epoch|curr_iter)$")  # fmt: skip


def find(source: Source) -> Iterator[Hit]:
    if "param_groups" not in source.text:
        return
    writes: list[ast.AugAssign | ast.Assign] = [*source.all(ast.AugAssign), *source.all(ast.Assign)]
    for one in writes:
        target = one.target if isinstance(one, ast.AugAssign) else one.targets[0]
        if not (isinstance(target, ast.Subscript) and tree.literal(target.slice) == "lr"):
            continue
        factor = _factor(source, one, target)
        if factor is not None and _counts(source, factor):
            code = source.code(factor)
            yield source.hit(one, f"`{code}` is the share of the first rate and is multiplied onto the last one, so it compounds: multiply "
                             "the first rate")  # fmt: skip


def _factor(source: Source, one: ast.AugAssign | ast.Assign, target: ast.Subscript) -> ast.expr | None:
    """What the current rate is multiplied by."""
    if isinstance(one, ast.AugAssign):
        return one.value if isinstance(one.op, ast.Mult) else None
    value = one.value
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Mult):
        return None
    for rate, factor in ((value.left, value.right), (value.right, value.left)):
        if source.code(rate) == source.code(target):
            return factor
    return None


def _counts(source: Source, factor: ast.expr) -> bool:
    """Whether the factor is made of a plain counter: a power of it, `1 - i / n`, a cosine."""
    if any(
        isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub) and _is_counter(one.left) for one in ast.walk(factor)
    ):
        return False  # how long ago the last time was
    powers = [one for one in ast.walk(factor) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Pow)]
    curves = [one for one in ast.walk(factor) if isinstance(one, ast.Call) and source.name(one.func) in _CURVES]
    parts = [*(part for one in powers for part in (one.left, one.right)), *(one.args[0] for one in curves if one.args)]
    return any(_is_counter(name) for part in parts for name in ast.walk(part))


def _is_counter(node: ast.AST) -> bool:
    return bool(_COUNTER.match(tree.dotted(node).rpartition(".")[2]))


_CURVES = ("math.cos", "math.exp", "numpy.cos", "numpy.exp", "math.pow", "pow")
