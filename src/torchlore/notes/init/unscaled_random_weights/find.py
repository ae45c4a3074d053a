"""The rule of unscaled-random-weights."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, follow, tree
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source

_DRAWS = ("torch.randn", "torch.rand")
_PRODUCTS = (
    "torch.mm",
    "torch.matmul",
    "torch.bmm",
    "torch.nn.functional.linear",
    "torch.einsum",
    "torch.spmm",
    "torch.sparse.mm",
)


def find(source: Source) -> Iterator[Hit]:
    if not any(source.calls("torch.nn.Parameter")) or not any(source.calls(*_DRAWS)):
        return
    for cls in classes.all_classes(source):
        start = classes.methods(cls).get("__init__") if classes.is_module(cls) else None
        if start is None:
            continue
        sizes = {arg.arg for arg in tree.parameters(start)[1:]}
        for name, found in classes.own_attributes(cls).items():
            draw = _draw(source, found[0].value, sizes) if len(found) == 1 and found[0].method == "__init__" else None
            if draw is not None and _is_factor(source, cls, name) and _made(source, cls) >= 2:
                told = f"each `{cls.node.name}` multiplies the spread of its input by the root of `{source.code(draw.args[0])}`"
                yield source.hit(draw, f"{told}: divide by it, or call `nn.init.xavier_uniform_(self.{name})`")


def _draw(source: Source, value: ast.expr | None, sizes: set[str]) -> ast.Call | None:
    """`torch.randn(n_in, n_out)` of `nn.Parameter(torch.randn(n_in, n_out))` with the sizes that the layer was given."""
    inner = (
        value.args[0]
        if isinstance(value, ast.Call) and source.name(value.func) == "torch.nn.Parameter" and value.args
        else None
    )
    if not isinstance(inner, ast.Call) or source.name(inner.func) not in _DRAWS or len(inner.args) != 2:
        return None
    given = [tree.dotted(one).removeprefix("self.") for one in inner.args]
    return inner if all(one in sizes for one in given) and given[0] != given[1] else None


def _is_factor(source: Source, cls: Class, name: str) -> bool:
    """Whether the weight as it is stands in a matrix product, and nobody draws it anew or scales it."""
    product = False
    for node in tree.under(source, cls.node, ast.Attribute):
        if node.attr != name or tree.dotted(node.value) != "self" or not isinstance(node.ctx, ast.Load):
            continue
        up = source.parents[node]
        if isinstance(up, ast.Attribute) and up.attr in ("T", "shape", "size", "device", "dtype"):
            up = source.parents[up]
        if (isinstance(up, ast.BinOp) and isinstance(up.op, ast.MatMult)) or (
            isinstance(up, ast.Call)
            and (source.name(up.func) in _PRODUCTS or follow.method(up) in ("mm", "matmul", "bmm"))
        ):
            product = True
        elif not isinstance(up, ast.Call | ast.Subscript) or source.name(
            up.func if isinstance(up, ast.Call) else None
        ) not in ("print", "len"):
            return False
    return product


def _made(source: Source, cls: Class) -> int:
    return sum(1 for _ in source.calls(cls.qualified))
