"""The rule of numpy-scalar-in-checkpoint."""

import ast
from collections.abc import Iterator

from torchlore.check import saved, scopes, tree, values
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
        return head == "numpy" and tail in _REDUCE and tree.lacks(node, 1, "axis")
    if isinstance(node, ast.BinOp):
        return _is_numpy(source, node.left, hops) or _is_numpy(source, node.right, hops)
    if isinstance(node, ast.Name) and hops:
        found = [one for one in scopes.reaching(source, node) if one.how == "assign" and not one.path and one.value]
        return any(_is_numpy(source, one.value, hops - 1) for one in found if one.value is not None)
    return False


def _is_namespace(source: Source, node: ast.expr) -> bool:
    found = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    calls = [one.value.func for one in found if isinstance(one.value, ast.Call) and not one.path]
    return bool(calls) and all(isinstance(one, ast.Attribute) and one.attr == "parse_args" for one in calls)
