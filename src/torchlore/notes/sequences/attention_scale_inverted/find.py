"""The rule of attention-scale-inverted."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, follow, project, tree
from torchlore.check.source import Hit, Source

_PRODUCTS = ("torch.matmul", "torch.bmm", "torch.einsum", "torch.baddbmm")


def find(source: Source) -> Iterator[Hit]:
    for one in source.all(ast.BinOp):
        if not isinstance(one.op, ast.Div | ast.Mult) or not _is_product(source, one.left):
            continue
        power = _power(source, one.right)
        if (isinstance(one.op, ast.Div) and power == -0.5) or (isinstance(one.op, ast.Mult) and power == 0.5):
            sign = "*" if isinstance(one.op, ast.Div) else "/"
            yield source.hit(
                one,
                f"this makes the scores larger by the width instead of smaller: write `{sign} {source.code(one.right)}`",
            )


def _is_product(source: Source, node: ast.expr) -> bool:
    """A product of queries and transposed keys."""
    matrix = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
    called = isinstance(node, ast.Call) and (
        source.name(node.func) in _PRODUCTS or follow.method(node) in ("matmul", "bmm")
    )
    code = source.code(node) if matrix or called else ""
    return (matrix or called) and ("transpose(" in code or "permute(" in code or ".mT" in code or "einsum" in code)


def _power(source: Source, node: ast.expr) -> float | None:
    """The power of a width that a scale was set to: -0.5 for `d ** -0.5` and `1 / sqrt(d)`, 0.5 for `sqrt(d)`."""
    value: ast.expr | None = follow.followed(source, node)
    owner = project.enclosing_class(source, node)
    if isinstance(node, ast.Attribute) and tree.dotted(node.value) == "self" and owner is not None:
        found = classes.assigned(owner, node.attr)
        value = found[0].value if len(found) == 1 else None
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Pow):
        power = tree.literal(value.right)
        return float(power) if power in (0.5, -0.5) and tree.literal(value.left) is tree.UNKNOWN else None
    inverse = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div) and tree.literal(value.left) in (1, 1.0)
    inner = value.right if inverse and isinstance(value, ast.BinOp) else value
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Pow) and inverse:
        return -0.5 if tree.literal(inner.right) == 0.5 and tree.literal(inner.left) is tree.UNKNOWN else None
    root = isinstance(inner, ast.Call) and source.name(inner.func) in ("math.sqrt", "numpy.sqrt")
    return (-0.5 if inverse else 0.5) if root else None
