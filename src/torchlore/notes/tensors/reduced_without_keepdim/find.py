"""The rule of reduced-without-keepdim."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, grouped, scopes, tree
from torchlore.check.source import Hit, Source

_WAYS = {"sum", "mean", "max", "min", "amax", "amin", "norm", "std", "logsumexp"}
_PAIRS = {"max", "min"}  # give values and places
_SAME = {"detach", "clamp", "clamp_min", "sqrt"}
_GRAPH = re.compile(r"adj|graph|^[AW]$|affinity|laplac|transition", re.IGNORECASE)  # either way round has its use
WORDS = ("|".join(_WAYS), "torch")


def find(source: Source) -> Iterator[Hit]:
    """`x - x.max(dim=1)[0]`: the reduced dimension is gone, and the rest is laid along the last one."""
    for node in grouped.operations(source, ast.Sub, ast.Div):
        whole = _bare(node.left)
        call = _reduction(source, node.right) if isinstance(whole, ast.Name | ast.Attribute) else None
        if call is None or _GRAPH.search(tree.dotted(whole).rpartition(".")[2]) is not None:
            continue
        given, axis = _given(source, call)
        if given is not None and source.code(_bare(given)) == source.code(whole) and axis > 0:
            told = f"`{source.code(node.right)}` has lost dimension {axis} and is laid along the last one, not along its own rows"
            yield source.hit(node, f"{told}: reduce with `keepdim=True`")


def _bare(node: ast.expr) -> ast.expr:
    return follow.peeled(node, _SAME)


def _reduction(source: Source, node: ast.expr, hops: int = 4) -> ast.Call | None:
    """The call behind `x.max(dim=1)[0]`, `x.sum(dim=1)`, `x.max(1).values`, and behind a name for one of them."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        node = node.left  # `+ 1e-8`
    node = _bare(node)
    if isinstance(node, ast.Name) and hops:
        bound = scopes.reaching(source, node)
        one = bound[0] if len(bound) == 1 and bound[0].how == "assign" else None
        if one is None or one.value is None or one.path not in ((), (0,)):
            return None
        made = one.value if one.path == () or _is_pair(one.value) else None
        inner = _reduction(source, made, hops - 1) if made is not None else None
        return inner if one.path == () or (inner is not None and inner is one.value) else None
    taken = isinstance(node, ast.Subscript) and tree.literal(node.slice) == 0
    taken = taken or (isinstance(node, ast.Attribute) and node.attr == "values")
    if taken and isinstance(node, ast.Subscript | ast.Attribute):
        return node.value if isinstance(node.value, ast.Call) and _is_pair(node.value) else None
    return node if isinstance(node, ast.Call) and follow.word(source, node) in _WAYS else None


def _is_pair(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and tree.dotted(node.func).rpartition(".")[2] in _PAIRS


def _given(source: Source, call: ast.Call) -> tuple[ast.expr | None, int]:
    """What is reduced and along which dimension; 0 where that is the first one, several, or unknown."""
    full = source.name(call.func)
    plain = full.startswith("torch.")
    if (full and not plain) or tree.spread(call) or tree.keyword(call, "keepdim") or tree.keyword(call, "keepdims"):
        return None, 0
    args = call.args[1:] if plain else call.args
    given = (call.args[0] if call.args else None) if plain else tree.receiver(call)
    place = 1 if follow.word(source, call) == "norm" else 0  # p comes first
    axis = tree.argument(call, None, "dim") or (args[place] if len(args) == place + 1 else None)
    number = tree.literal(axis) if axis is not None else None
    return given, number if isinstance(number, int) and not isinstance(number, bool) else 0
