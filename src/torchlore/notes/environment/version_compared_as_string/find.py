"""The rule of version-compared-as-string."""

import ast
from collections.abc import Iterator

from torchlore.check import tree, uses
from torchlore.check.source import Hit, Source

_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)

WORDS = ("__version__",)


def find(source: Source) -> Iterator[Hit]:
    for node in uses.attributes(source, "__version__"):
        if package := source.name(node.value):
            where, how = _misread(source, node, package)
            if where is not None:
                right = "`torch.__version__ >= (2, 9)`" if package == "torch" else "`packaging.version.Version`"
                what = f"`{source.code(node)}` is compared {how}, which puts 2.15 before 2.9: use {right}"
                yield source.hit(where, what, severity="hint" if _long_past(where) else None)


def _long_past(where: ast.AST) -> bool:
    """Compared with 0.4 or 1.10: every version of today is later, as text too."""
    texts = [one.value for one in ast.walk(where) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    numbers = [text for text in texts if text[:1].isdigit()]
    return bool(numbers) and numbers[0].partition(".")[0] in ("0", "1")


def _same_order(number: object) -> bool:
    """`"2.1"`: 2.0, 2.9 and 2.10 stand on the right side of it as text too."""
    parts = [int(part) for part in str(number).split(".") if part.isdigit()]
    versions = [[parts[0] + later, minor, 1] for later in range(3) for minor in range(30)] if parts else []
    return bool(versions) and all((".".join(map(str, one)) < str(number)) == (one < parts) for one in versions)


def _misread(source: Source, version: ast.Attribute, package: str) -> tuple[ast.AST | None, str]:
    """Where the version is read as a float or ordered as text, and which of the two."""
    text, node = package != "torch", version  # TorchVersion compares rightly until it is cut
    part = False  # `split(".")[1]` is 15 as a float too
    while True:
        up = source.parents[node]
        if isinstance(up, ast.Subscript) and up.value is node:
            text, part = True, isinstance(tree.literal(up.slice), int)
        elif isinstance(up, ast.Attribute) and up.attr in {"split", "partition", "rsplit", "strip", "replace"}:
            up, text = source.parents[up], True
        elif isinstance(up, ast.Call) and source.name(up.func) == "float":
            return (None, "") if part else (up, "as a float")
        elif isinstance(up, ast.Call) and (source.name(up.func) == "str" or _joins(up)):
            text = True
        elif isinstance(up, ast.Compare) and len(up.ops) == 1 and isinstance(up.ops[0], _ORDER) and text:
            sides = (up.left, up.comparators[0])
            other = sides[1] if sides[0] is node else sides[0]
            misread = _is_text(source, other) and not _same_order(tree.literal(other))
            return (up, "as text") if misread else (None, "")
        else:
            return None, ""
        node = up  # type: ignore[assignment]  # an expression that holds the version


def _joins(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Attribute) and call.func.attr == "join" and isinstance(call.func.value, ast.Constant)
    )


def _is_text(source: Source, node: ast.expr) -> bool:
    value = tree.literal(node)
    if isinstance(value, tuple):
        return all(isinstance(part, str) for part in value)
    same = isinstance(node, ast.Attribute) and node.attr == "__version__" and source.name(node.value) != "torch"
    return same or (isinstance(value, str) and value[:1].isdigit())
