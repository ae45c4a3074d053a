"""What a `for` loop hands out."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

from torchlore.check import api, shapes
from torchlore.check.pattern import regex
from torchlore.check.tree import argument, dotted
from torchlore.check.values import UNKNOWN, Value, Values, item, values

if TYPE_CHECKING:
    from torchlore.check.project import Function
    from torchlore.check.source import Source

_TRANSPARENT = {"tqdm.tqdm", "tqdm.trange", "reversed", "sorted", "iter", "list", "tuple", "itertools.islice", "set",
                "itertools.cycle", "rich.progress.track", "copy.copy", "copy.deepcopy", "fastprogress.progress_bar"}  # fmt: skip
_PAIRS = {
    "named_parameters": "parameter",
    "named_modules": "module",
    "named_children": "module",
    "named_buffers": "tensor",
}


_EVALUATION = regex(r"(?i)(?:^|[._])(?:test|testing|val|valid|validation|eval|dev)_?(?:data_?)?(?:loader|dl)$")


def over_evaluation(source: Source, loop: ast.AST) -> bool:
    """`for x, y in tqdm(val_loader)`: the batches that its name says are there to evaluate."""
    return isinstance(loop, ast.For) and bool(_EVALUATION.search(dotted(unwrapped(source, loop.iter))))


def unwrapped(source: Source, node: ast.expr) -> ast.expr:
    """What is iterated under `enumerate`, `tqdm`, `zip`'s first, `islice` and the like."""
    while isinstance(node, ast.Call) and node.args and not isinstance(node.args[0], ast.Starred):
        name = source.name(node.func)
        if name not in _TRANSPARENT and name not in ("enumerate", "zip") and not name.endswith((".tqdm", ".track")):
            return node
        node = node.args[0]
    return node


def elements(source: Source, node: ast.expr) -> Values:
    """What each turn of `for … in node` gets."""
    if isinstance(node, ast.Call):
        name = source.name(node.func)
        if name == "enumerate" and node.args:
            return (Value("tuple", items=((Value("number"),), elements(source, node.args[0]))),)
        if name == "zip":
            parts = tuple(elements(source, arg) for arg in node.args if not isinstance(arg, ast.Starred))
            return (Value("tuple", items=parts),) if len(parts) == len(node.args) else (UNKNOWN,)
        if (name in _TRANSPARENT or name.endswith((".tqdm", ".track"))) and node.args:
            return elements(source, node.args[0])
        if isinstance(node.func, ast.Attribute) and node.func.attr in _PAIRS:
            kind = _PAIRS[node.func.attr]
            return (Value("tuple", items=((Value("string"),), (Value(kind, attached=kind == "parameter" or None),))),)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "values"):
            return _from_dict(source, node.func)
    found: Values = ()
    for value in values(source, node):
        found += _each(source, value)
    return found


def _from_dict(source: Source, func: ast.Attribute) -> Values:
    found: Values = ()
    for value in values(source, func.value):
        inner = sum(value.items, ()) if value.kind == "dict" and value.items else (UNKNOWN,)
        if value.kind == "moduledict":
            inner = (Value("module"),)
        elif value.kind == "state_dict":
            inner = (Value("tensor", attached=False),)
        found += inner if func.attr == "values" else (Value("tuple", items=((Value("string"),), inner)),)
    return found


def _each(source: Source, value: Value) -> Values:
    if value.kind == "loader":
        return _batch(source, value)
    if value.kind in ("iterator", "list", "tuple", "set") and value.items:
        return sum(value.items, ())
    if value.kind == "dict":
        return (Value("string", weak=True),)
    return item(value, None)


def _batch(source: Source, loader: Value) -> Values:
    """One batch: the dataset's items where they can be seen, weakly tensors where not."""
    from torchlore.check.calls import returns
    from torchlore.check.classes import class_behind

    function = collate(source, loader)
    if function is not None:
        made = returns(function)
        return (
            made
            if made and all(one.kind in ("tuple", "list", "tensor", "dict") for one in made)
            else (Value("batch", weak=True),)
        )
    for dataset in loader.items[0] if loader.items else ():
        if dataset.name == "torch.utils.data.TensorDataset":
            return (Value("batch", items=_columns(source, dataset)),)
        owner = class_behind(source, dataset)
        method = source.project.method(owner, "__getitem__") if owner else None
        for returned in returns(method) if method else ():
            if returned.kind == "tuple":
                return (returned._replace(items=tuple(_collated(part) for part in returned.items)),)
            if isinstance(returned.node, ast.Dict) and returned.kind == "dict":
                return (Value("batch", node=returned.node, source=returned.source, weak=True),)
    return (Value("batch", weak=True),)


def collate(source: Source, loader: Value) -> Function | None:
    """The function of the project that puts a loader's batches together, also `partial(pad_batch, pad=0)` and `data.collate`."""
    from torchlore.check.project import Function

    home = loader.source or source
    given = argument(loader.node, 6, "collate_fn") if isinstance(loader.node, ast.Call) else None
    if isinstance(given, ast.Call) and home.name(given.func) == "functools.partial" and given.args:
        given = given.args[0]
    if given is None:
        return None
    target = home.project.resolve(home, given)
    if isinstance(target, Function):
        return target
    owners = values(home, given.value) if isinstance(given, ast.Attribute) else ()
    return _method(home, owners[0], given.attr) if len(owners) == 1 and isinstance(given, ast.Attribute) else None


def _method(source: Source, value: Value, name: str) -> Function | None:
    from torchlore.check.classes import class_behind

    owner = class_behind(source, value)
    return source.project.method(owner, name) if owner is not None else None


def _columns(source: Source, dataset: Value) -> tuple[Values, ...]:
    """The tensors of a batch of a `TensorDataset(x, y)`, with what is known of their shapes."""
    call, home = dataset.node, dataset.source or source
    if not isinstance(call, ast.Call):
        return ()
    given = [values(home, one) for one in call.args]
    if any(isinstance(one, ast.Starred) for one in call.args):
        inner = values(home, cast("ast.Starred", call.args[0]).value) if len(call.args) == 1 else ()
        given = list(inner[0].items) if len(inner) == 1 and inner[0].kind == "tuple" else []  # `*make(500)`
    sizes = [shapes.sampled(one[0].shape) if len(one) == 1 else None for one in given]
    return tuple((Value("tensor", "loader", attached=False, shape=size),) for size in sizes)


def _collated(part: Values) -> Values:
    if part and all(api.is_kind(value.kind, "tensor") or value.kind in ("number", "bool", "ndarray") for value in part):
        size = () if part[0].kind in ("number", "bool") else part[0].shape if part[0].kind == "tensor" else None
        return (Value("tensor", "loader", attached=False, shape=shapes.batched(size) if len(part) == 1 else None),)
    if part and all(value.kind == "string" for value in part):
        return (Value("list"),)
    return (Value("tensor", "loader", attached=False, weak=True),)


def index(source: Source, loop: ast.For) -> str:
    """`i` of `for i, batch in enumerate(loader)`, counted from 0."""
    call, target = loop.iter, loop.target
    while isinstance(call, ast.Call) and source.name(call.func).endswith("tqdm") and call.args:
        call = call.args[0]
    plain = isinstance(call, ast.Call) and source.name(call.func) == "enumerate" and len(call.args) == 1
    first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else None
    counts = plain and not getattr(call, "keywords", ()) and isinstance(first, ast.Name)
    return first.id if counts and isinstance(first, ast.Name) else ""
