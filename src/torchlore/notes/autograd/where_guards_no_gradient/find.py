"""The static rule of where-guards-no-gradient."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree, values
from torchlore.check.source import Hit, Source

_STEEP = {"sqrt", "log", "rsqrt", "acos", "asin", "log2", "log10", "reciprocal", "pow", "exp"}

WORDS = ("where",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.where"):
        if len(call.args) != 3:
            continue
        tested = {source.code(side) for side in _sides(source, call.args[0])}
        for branch in call.args[1:]:
            steep = _steep(source, branch, tested)
            attached = values.attached(source, branch) if steep is not None else False
            if attached or (attached is None and _likely(source, call)):
                message = (
                    f"where chooses the values, but `{source.code(branch)}` still sends a NaN gradient back to every "
                    f"masked element: make `{steep}` harmless first, `torch.where(mask, {steep}, 1.0)`"
                )
                yield source.hit(call, message, severity=None if attached else "hint")
                break


def _likely(source: Source, call: ast.Call) -> bool:
    """It stands in a loss or a forward pass and may well have a graph."""
    home = tree.function(source, call)
    return home is not None and (home.name == "forward" or "loss" in home.name.lower())


def _sides(source: Source, test: ast.expr) -> list[ast.expr]:
    """What the condition looks at: `x` of `x > 0`."""
    test = follow.followed(source, test)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and not isinstance(test.ops[0], ast.Is):
        return [test.left, test.comparators[0]]
    return []


def _steep(source: Source, branch: ast.expr, tested: set[str]) -> str | None:
    """The tested tensor, where the branch takes its root, its logarithm or divides by it."""
    branch = follow.followed(source, branch)
    if isinstance(branch, ast.BinOp) and isinstance(branch.op, ast.Div):
        inner = source.code(branch.right)
        return inner if inner in tested and not _is_number(source, branch.right) else None
    if not isinstance(branch, ast.Call) or not isinstance(branch.func, ast.Attribute) or branch.func.attr not in _STEEP:
        return None
    if branch.func.attr == "pow" and not _negative_or_root(branch):
        return None
    function = source.name(branch.func).startswith("torch.")
    inner = source.code(branch.args[0] if function and branch.args else branch.func.value)
    return inner if inner in tested else None


def _is_number(source: Source, node: ast.expr) -> bool:
    """A number takes no gradient: known as one, or a parameter with a number as its default."""
    home = tree.function(source, node)
    args = (
        home.args if home is not None and isinstance(node, ast.Name) else ast.arguments([], [], None, [], [], None, [])
    )
    given = zip(reversed([*args.posonlyargs, *args.args]), reversed(args.defaults), strict=False)
    return values.maybe(source, node, "number") or any(
        arg.arg == source.code(node) and values.sure(source, default, "number") for arg, default in given
    )


def _negative_or_root(call: ast.Call) -> bool:
    power = tree.literal(call.args[-1]) if call.args else None
    return isinstance(power, int | float) and power < 1
