"""How many samples and batches a loader has, where the shapes in the file say so."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlore.check import averages, calls, classes, follow, iteration, lengths, scopes, shapes, tree, values
from torchlore.check.pattern import regex

if TYPE_CHECKING:
    from torchlore.check.project import Function
    from torchlore.check.source import Source

_BATCH = regex(r"(?:mini_?)?batch(?:_data)?|(?:batch_)?(?:inputs|samples?|encodings?)")


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
    """How many samples a `DataLoader(TensorDataset(x, y))` has, where the shape of `x` or the function that makes it says so."""
    data = tree.argument(loader, 0, "dataset")
    told = lengths.length(source, data) if data is not None else None
    if told is not None:
        return told
    for value in source.values(data) if data is not None else ():
        if value.name == "torch.utils.data.TensorDataset" and isinstance(value.node, ast.Call) and value.node.args:
            known = (rows(value.source or source, one) for one in value.node.args)
            return next((one for one in known if one is not None), None)
    return None


def short(source: Source, over: ast.expr) -> tuple[int, int] | None:
    """The size of the last batch and of the others, where the last is seen to be short; (0, size) where all are full."""
    found = [one for one in source.values(iteration.unwrapped(source, over)) if one.kind == "loader"]
    told = set[tuple[int, int]]()
    for one in found:
        made, home = one.node, one.source
        if not isinstance(made, ast.Call) or home is None:
            return None
        given = tree.argument(made, 1, "batch_size")
        dropped = tree.literal(tree.argument(made, 8, "drop_last")) is True
        n, size = samples(home, made), averages.number(home, given) if given is not None else 1.0
        if size is None or size < 1 or (n is None and not dropped) or not tree.lacks(made, 4, "batch_sampler"):
            return None
        if not tree.lacks(made, 8, "drop_last") and not dropped:
            return None
        told.add((0 if dropped or n is None else n % int(size), int(size)))
    ragged = [one for one in told if one[0]]
    return next(iter(ragged or told), None)


def rows(source: Source, node: ast.expr) -> int | None:
    """The first size of a tensor, through `x[800:]`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        whole, ends = rows(source, node.value), (node.slice.lower, node.slice.upper, node.slice.step)
        bounds = [tree.literal(one) if one is not None else None for one in ends]
        known = [one for one in bounds if one is None or isinstance(one, int)]
        return shapes.taken(whole, *known) if whole is not None and len(known) == 3 else None
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
        inside = walked_parts(one)
        if inside is not None and hands_out(source, inside, True, hops - 1):
            return True
        return (part or bool(path)) and values.sure(source, walked, "loader", weak=True)
    if one.how == "parameter" and isinstance(one.node, ast.arg):
        given = calls.given(source, one.node)
        if not given:
            return part and _BATCH.fullmatch(one.name) is not None
        return all(by is not None and hands_out(at, by, part, hops - 1) for at, by in given)
    taken = one.how == "assign" and isinstance(one.value, ast.Subscript | ast.Name)
    return taken and one.value is not None and hands_out(source, one.value, part or bool(one.path), hops - 1)


def walked_parts(one: scopes.Binding) -> ast.expr | None:
    """`batch` of `for value in batch`, of `for value in batch.values()` and of the values of `batch.items()`."""
    over = one.value
    if isinstance(over, ast.Name):
        return over
    pairs = isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and not over.args
    name = over.func.attr if pairs and isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) else ""
    mine = (name == "items" and one.path == (1,)) or (name == "values" and not one.path)
    return over.func.value if mine and isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) else None


def collated(source: Source, node: ast.expr) -> tuple[Source, ast.expr] | None:
    """What the loader's own `collate_fn` gives as this part of the batch: `mask` of `for x, mask in loader`, `batch["mask"]`."""
    loader, key = _taken(source, node)
    function = iteration.collate(source, loader) if loader is not None else None
    return _returned(function, key) if function is not None else None


def sampled(source: Source, node: ast.expr) -> tuple[Source, ast.expr] | None:
    """What the dataset gives as this part of the batch: its `__getitem__`, or a column of a `TensorDataset`."""
    loader, key = _taken(source, node)
    if loader is None or iteration.collate(source, loader) is not None or len(loader.items) != 1:
        return None
    data = loader.items[0][0] if len(loader.items[0]) == 1 else None
    if data is None or data.source is None:
        return None
    if data.name == "torch.utils.data.TensorDataset" and isinstance(data.node, ast.Call):
        columns = data.node.args
        known = isinstance(key, int) and 0 <= key < len(columns) and not tree.spread(data.node)
        return (data.source, columns[key]) if known and isinstance(key, int) else None
    owner = classes.class_behind(source, data)
    method = source.project.method(owner, "__getitem__") if owner is not None else None
    return _returned(method, key) if method is not None else None


def _taken(source: Source, node: ast.expr) -> tuple[values.Value | None, object]:
    """The loader a part of a batch comes from, and the part's place or name."""
    key = tree.literal(node.slice) if isinstance(node, ast.Subscript) else None
    name = node.value if isinstance(node, ast.Subscript) else node
    bound = scopes.reaching(source, name) if isinstance(name, ast.Name) else []
    one = bound[0] if len(bound) == 1 else None
    if one is not None and one.how == "assign" and isinstance(one.value, ast.Name) and len(one.path) == 1:
        key, bound = one.path[0], scopes.reaching(source, one.value)  # x, mask = batch
        one = bound[0] if len(bound) == 1 else None
    if one is None or one.how != "for" or one.value is None:
        return None, None
    counted = isinstance(one.value, ast.Call) and source.name(one.value.func) == "enumerate"
    path = one.path[1:] if counted else one.path
    made = source.values(iteration.unwrapped(source, one.value)) if len(path) < 2 else ()
    loader = made[0] if len(made) == 1 and made[0].kind == "loader" else None
    return loader, path[0] if path else key


def _returned(function: Function, key: object) -> tuple[Source, ast.expr] | None:
    """One part of what a function gives back, where it does so in one place."""
    backs = calls.returned(function)
    return _entry(function.source, follow.followed(function.source, backs[0]), key) if len(backs) == 1 else None


def _entry(source: Source, back: ast.expr, key: object) -> tuple[Source, ast.expr] | None:
    """The part of a tuple or of a dictionary that is written out."""
    if isinstance(back, ast.Tuple | ast.List) and isinstance(key, int) and 0 <= key < len(back.elts):
        return source, back.elts[key]
    pairs = zip(back.keys, back.values, strict=True) if isinstance(back, ast.Dict) else ()
    found = next((value for name, value in pairs if name is not None and tree.literal(name) == key), None)
    return (source, found) if found is not None else None
