"""The rule of numpy-scalar-in-checkpoint."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, flow, saved, scopes, tree, values
from torchlore.check.source import Hit, Source

_REDUCE = {"mean", "sum", "max", "min", "median", "std", "var", "nanmean", "average", "prod", "percentile",
           "trapz", "quantile"}  # fmt: skip
_CASTS = {"float32", "float64", "int64"}
WORDS = ("save",)


def find(source: Source) -> Iterator[Hit]:
    trusting = any(
        tree.literal(tree.argument(one, None, "weights_only")) is False for one in source.calls("torch.load")
    )
    for call in source.calls("torch.save") if not trusting else ():
        for key, part in saved.contents(source, call).items:
            if key and _is_numpy(source, part):
                code = source.code(part)
                yield source.hit(
                    call,
                    f"`{code}` is a NumPy number, and torch.load refuses a file that holds one: save `float({code})`",
                )
            elif key and _is_namespace(source, part):
                code = source.code(part)
                yield source.hit(
                    call, f"`{code}` is a Namespace, and torch.load refuses a file that holds one: save `vars({code})`"
                )


def _is_numpy(source: Source, node: ast.expr, hops: int = 4) -> bool:
    if isinstance(node, ast.Call):
        head, _, tail = source.name(node.func).rpartition(".")
        if head in ("", "builtins") and source.name(node.func) in ("max", "min", "round"):
            return any(_is_numpy(source, one, hops) for one in node.args)
        if head == "numpy" and tail in _CASTS:  # of a list it gives an array
            return bool(node.args) and values.sure(source, node.args[0], "number")
        reduced = head == "numpy" and tail in _REDUCE and tree.lacks(node, 1, "axis")
        return reduced or (head != "numpy" and hops > 0 and _gives_numpy(source, node, (), hops - 1))
    if isinstance(node, ast.BinOp):
        return _is_numpy(source, node.left, hops) or _is_numpy(source, node.right, hops)
    if isinstance(node, ast.Name) and hops:
        found = [one for one in scopes.reaching(source, node) if one.how == "assign" and one.value is not None]
        return any(
            _gives_numpy(source, one.value, one.path, hops - 1) if one.path else _is_numpy(source, one.value, hops - 1)
            for one in found
            if one.value is not None
        )
    return False


def _gives_numpy(source: Source, node: ast.expr, path: tuple[int, ...], hops: int) -> bool:
    """`evaluate(net)`, a function of the project all of whose results are such numbers; `path` picks one of several."""
    if isinstance(node, ast.Tuple):
        return len(path) == 1 and path[0] < len(node.elts) and _is_numpy(source, node.elts[path[0]], hops)
    made = flow.called(source, node) if isinstance(node, ast.Call) else None
    backs = calls.returned(made) if made is not None else []
    if len(path) == 1:
        backs = [one.elts[path[0]] for one in backs if isinstance(one, ast.Tuple) and path[0] < len(one.elts)]
    return (
        made is not None and len(path) < 2 and bool(backs) and all(_is_numpy(made.source, one, hops) for one in backs)
    )


def _is_namespace(source: Source, node: ast.expr) -> bool:
    found = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    calls = [one.value.func for one in found if isinstance(one.value, ast.Call) and not one.path]
    return bool(calls) and all(isinstance(one, ast.Attribute) and one.attr == "parse_args" for one in calls)
