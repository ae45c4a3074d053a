"""How many samples and batches a loader has, where the shapes in the file say so."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlore.check import averages, iteration, scopes, tree, values

if TYPE_CHECKING:
    from torchlore.check.source import Source


def batches(source: Source, over: ast.expr) -> int | None:
    """The number of batches that a loop over a `DataLoader(TensorDataset(x, y), batch_size)` gets."""
    found = [one for one in source.values(iteration.unwrapped(source, over)) if one.source is source]
    made = found[0].node if len(found) == 1 and found[0].kind == "loader" else None
    if (
        not isinstance(made, ast.Call)
        or not tree.lacks(made, 8, "drop_last")
        or not tree.lacks(made, 4, "batch_sampler")
    ):
        return None
    given = tree.argument(made, 1, "batch_size")
    n, size = samples(source, made), averages.number(source, given) if given is not None else None
    return -(-n // int(size)) if n is not None and size is not None and size >= 1 else None


def samples(source: Source, loader: ast.Call) -> int | None:
    """How many samples a `DataLoader(TensorDataset(x, y))` has, where the shape of `x` says so."""
    data = tree.argument(loader, 0, "dataset")
    for value in source.values(data) if data is not None else ():
        if value.name == "torch.utils.data.TensorDataset" and isinstance(value.node, ast.Call) and value.node.args:
            known = (rows(value.source or source, one) for one in value.node.args)
            return next((one for one in known if one is not None), None)
    return None


def rows(source: Source, node: ast.expr) -> int | None:
    """The first size of a tensor, through `x[800:]`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        whole, ends = rows(source, node.value), (node.slice.lower, node.slice.upper, node.slice.step)
        bounds = [tree.literal(one) if one is not None else None for one in ends]
        known = all(one is None or isinstance(one, int) for one in bounds)
        return len(range(whole)[slice(*bounds)]) if whole is not None and known else None
    shape = values.shape(source, node)
    return shape[0] if shape and isinstance(shape[0], int) else None


def hands_out(source: Source, node: ast.expr, part: bool = False, hops: int = 4) -> bool:
    """Whether this is a part of a loader's batch, also where only its name says that it is a loader; the whole batch may be anything."""
    while isinstance(node, ast.Subscript):
        node, part = node.value, True
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) and hops else []
    return bool(bound) and all(_handed_out(source, one, part, hops) for one in bound)


def _handed_out(source: Source, one: scopes.Binding, part: bool, hops: int) -> bool:
    if one.how == "for" and one.value is not None:
        walked = iteration.unwrapped(source, one.value)
        counted = isinstance(one.value, ast.Call) and source.name(one.value.func) == "enumerate"
        path = one.path[1:] if counted and one.path[:1] == (1,) else () if counted else one.path
        return (part or bool(path)) and values.sure(source, walked, "loader", weak=True)
    taken = one.how == "assign" and isinstance(one.value, ast.Subscript | ast.Name)
    return taken and one.value is not None and hands_out(source, one.value, part or bool(one.path), hops - 1)
