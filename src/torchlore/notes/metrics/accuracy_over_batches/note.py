"""A count of correct samples divided by `len(loader)`, the number of batches, is no accuracy.

`len(loader)` counts batches. The sum of `(prediction == labels)` counts samples. Their ratio is the accuracy times the
batch size: 16 instead of 1, or, with a small batch and a poor model, a number that looks like an accuracy.

Divide by samples: `len(loader.dataset)` where every sample is used once, or a count you keep yourself,
`seen += labels.size(0)`. The mean of the batches' accuracies is only right if all batches have one size.
"""

import ast
from collections.abc import Iterator

from torchlore.check import iteration, tallies, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/mlflow/mlflow-torchserve/pull/56",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["accuracy"] == 10.0
    assert good["accuracy"] == 1.0


def find(source: Source) -> Iterator[Hit]:
    again = {one.left for one in source.all(ast.BinOp) if isinstance(one.op, ast.Div)}  # by the size of a batch too
    for one in tallies.tallies(source) if "oader" in source.text else ():
        walked = iteration.unwrapped(source, one.loop.iter)
        if (
            one.kind == "count"
            and one.by == "batches"
            and values.sure(source, walked, "loader", weak=True)
            and not (_one_sample(source, walked) or one.division in again)
        ):
            yield source.hit(
                one.division,
                f"`{one.name}` counts samples and `len({one.over})` batches: divide by `len({one.over}.dataset)`",
                severity=None if values.sure(source, walked, "loader") else "warning",  # called one, may be a list
            )
    for size in source.calls("len"):
        loader = size.args[0] if size.args else None
        up = source.parents[size]
        if not isinstance(up, ast.BinOp) or not isinstance(up.op, ast.Div) or up.right is not size or loader is None:
            continue
        if not values.sure(source, loader, "loader", weak=True) or not isinstance(
            loader, ast.Name | ast.Attribute | ast.Subscript
        ):
            continue
        count = next((one for one in ast.walk(up.left) if isinstance(one, ast.Name) and _counts(source, one)), None)
        if count is not None and not _one_sample(source, loader) and up not in again:
            code = source.code(loader)
            told = f"`{count.id}` counts samples and `len({code})` batches: divide by `len({code}.dataset)`"
            yield source.hit(up, told, severity=None if values.sure(source, loader, "loader") else "warning")


def _counts(source: Source, name: ast.Name) -> bool:
    """Whether every `name += ...` adds the number of equal elements."""
    home = tree.function(source, name)
    added = [one.value for one in source.all(ast.AugAssign) if isinstance(one.target, ast.Name)
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


def _one_sample(source: Source, loader: ast.expr) -> bool:
    """Whether the loader's batches hold one sample, so that both counts are the same."""
    made = [one.node for one in source.values(loader) if isinstance(one.node, ast.Call)]
    return any(
        tree.lacks(one, 1, "batch_size") or tree.literal(tree.argument(one, 1, "batch_size")) in (1, None)
        for one in made
    )
