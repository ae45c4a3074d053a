"""Where a value was first written down: through names, tuples, dictionaries and the project's functions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlore.check import flow, scopes, terms, tree
from torchlore.check.calls import returned
from torchlore.check.classes import class_behind
from torchlore.check.values import values

if TYPE_CHECKING:
    from torchlore.check.project import Function
    from torchlore.check.source import Source

Written = tuple["Source", ast.expr]


def behind(source: Source, call: ast.Call) -> Function | None:
    """The project's function that a call runs; `forward` or `__call__` where an object is called."""
    direct = flow.called(source, call)
    if direct is not None:
        return None if direct.node.name == "__init__" else direct
    for value in values(source, call.func):
        owner = class_behind(source, value) if value.kind and value.name else None
        for name in ("forward", "__call__") if owner is not None else ():
            method = source.project.method(owner, name) if owner is not None else None
            if method is not None:
                return method
    return None


def origin(source: Source, node: ast.expr, hops: int = 10) -> Written:
    """The expression that made a value, and its file; the node itself where it cannot be followed further."""
    for _ in range(hops):
        further = _further(source, node, hops)
        if further is None:
            break
        source, node = further
    return source, node


def _further(source: Source, node: ast.expr, hops: int) -> Written | None:
    if isinstance(node, ast.Name):
        found = scopes.reaching(source, node)
        one = found[0] if len(found) == 1 and found[0].how == "assign" else None
        if one is None or one.value is None or len(one.path) > 1:
            return None
        return _element(source, one.value, one.path[0]) if one.path else (source, one.value)
    if isinstance(node, ast.Attribute):
        own = terms.own_value(source, node)
        return (source, own) if own is not None else None
    if isinstance(node, ast.Subscript):
        return entry(source, node, hops)
    if isinstance(node, ast.Call):
        inner = _result(source, node)
        return inner if inner is not None and not isinstance(inner[1], ast.Tuple) else None
    return None


def _result(source: Source, call: ast.Call) -> Written | None:
    """What the project's function behind a call returns, where it returns in one place."""
    inner = behind(source, call)
    given = returned(inner) if inner is not None else []
    return (inner.source, given[0]) if inner is not None and len(given) == 1 else None


def _element(source: Source, node: ast.expr, index: int) -> Written | None:
    """Element `index` of a tuple that is written here, or that a function of the project returns."""
    result = _result(source, node) if isinstance(node, ast.Call) else (source, node)
    if result is None or not isinstance(result[1], ast.Tuple | ast.List) or not 0 <= index < len(result[1].elts):
        return None
    return result[0], result[1].elts[index]


def entry(source: Source, node: ast.Subscript, hops: int = 10) -> Written | None:
    """What was put under a key or an index: `losses` of `step["loss"]`, where the dictionary can be followed."""
    key = tree.literal(node.slice)
    if not isinstance(key, str | int) or hops <= 1:
        return None
    home, box = origin(source, node.value, hops - 2)
    if isinstance(key, int):
        return _element(home, box, key)
    keys = box.keys if isinstance(box, ast.Dict) else []
    same = [i for i, one in enumerate(keys) if one is not None and tree.literal(one) == key]
    return (home, box.values[same[0]]) if len(same) == 1 and isinstance(box, ast.Dict) else None


def loss_behind(source: Source, loss: ast.expr) -> ast.expr:
    """The loss behind `step["loss"]`, where a function of the file has put it into a dictionary; else itself."""
    found = entry(source, loss) if isinstance(loss, ast.Subscript) else None
    return found[1] if found is not None and found[0] is source else loss


def members(source: Source, node: ast.expr) -> list[Written]:
    """What a list holds: its elements, and what is appended to it in the function that makes it; `ents` of `a, ents = play()` too."""
    home, box = origin(source, node)
    if isinstance(box, ast.ListComp):
        return [(home, box.elt)]
    held = tree.target(home, box) if isinstance(box, ast.List) else box
    name = tree.dotted(held) if held is not None else ""
    if isinstance(box, ast.Attribute):  # `policy.saved` is `self.saved` elsewhere
        adds = [one for one in home.methods("append") if tree.dotted(tree.receiver(one)).endswith(f".{box.attr}")]
    else:
        where = tree.function(home, box)
        adds = [
            one
            for one in home.methods("append")
            if name and tree.dotted(tree.receiver(one)) == name and tree.function(home, one) is where
        ]
    written = [(home, one) for one in box.elts] if isinstance(box, ast.List) else []
    return written + [(home, one.args[0]) for one in adds if len(one.args) == 1]
