"""`DataLoader(data, **options)` with what `options` holds, where one dictionary of the file says it and nothing changes it."""

from __future__ import annotations

import ast
import copy
from typing import Any, cast

from torchlore.check.tree import dotted

Nodes = dict[type, list[ast.AST]]
Parents = dict[ast.AST, ast.AST]
Pairs = dict[str, ast.expr]
_SCOPES = {ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module}
_NO_VALUE = "the default"  # a name that nobody can bind


def write(nodes: Nodes, parents: Parents) -> list[ast.expr]:
    """Write such options into their calls; the expressions that stood behind the stars."""
    stars = [one for one in cast("list[ast.keyword]", nodes.get(ast.keyword, ())) if one.arg is None]
    if not stars:
        return []
    named: dict[str, list[ast.Name]] = {one.value.id: [] for one in stars if isinstance(one.value, ast.Name)}
    for name in cast("list[ast.Name]", nodes.get(ast.Name, ())):
        if name.id in named:
            named[name.id].append(name)
    given = {one.arg for one in cast("list[ast.arg]", nodes.get(ast.arg, ()))}
    found: list[ast.expr] = []
    for star in stars:
        call: Any = parents[star]
        pairs = _held(named, given, parents, star) if call.__class__ is ast.Call else None
        if pairs is None or not pairs.keys().isdisjoint(one.arg for one in call.keywords):
            continue
        place = call.keywords.index(star)
        call.keywords[place : place + 1] = [_given(name, value, star.value) for name, value in pairs.items()]
        found.append(star.value)
    return found


def _held(named: dict[str, list[ast.Name]], given: set[str], parents: Parents, star: ast.keyword) -> Pairs | None:
    """What stands behind the stars, if every part of it can be read there."""
    if not isinstance(star.value, ast.Name):
        return _pairs(star.value)
    if star.value.id in given:
        return None  # a parameter of some function
    same = named[star.value.id]
    bound = [one for one in same if not isinstance(one.ctx, ast.Load)]
    made: Any = parents[bound[0]] if len(bound) == 1 else None
    if made.__class__ is not ast.Assign or len(made.targets) != 1 or made.lineno > star.value.lineno:
        return None
    if not all(_only_read(parents, one) for one in same if one is not bound[0]):
        return None
    home = _scope(parents, made)
    found = _pairs(made.value) if home in (_scope(parents, star), *_outer(parents, star)) else None
    plain = found is not None and all(isinstance(one, ast.Constant) for one in found.values())
    return found if plain or home is _scope(parents, star) else None


def _pairs(node: ast.expr) -> Pairs | None:
    """The entries of `{...}` and `dict(...)`, and of a choice between two of them."""
    if isinstance(node, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        entries = list(zip(keys, node.values, strict=True))
    elif isinstance(node, ast.Call) and dotted(node.func) == "dict" and not node.args:
        entries = [(one.arg, one.value) for one in node.keywords]
    elif isinstance(node, ast.IfExp):
        return _either(node)
    else:
        return None
    named = {key: value for key, value in entries if isinstance(key, str) and _is_plain(value)}
    return named if len(named) == len(entries) else None


def _either(node: ast.IfExp) -> Pairs | None:
    """`{"num_workers": 1} if cuda else {}`: each may be given, or not."""
    first, second = _pairs(node.body), _pairs(node.orelse)
    if first is None or second is None:
        return None
    left = ast.copy_location(ast.Name(_NO_VALUE, ast.Load()), node)
    found: Pairs = {}
    for name in (*first, *(one for one in second if one not in first)):
        here, there = first.get(name, left), second.get(name, left)
        same = ast.dump(here) == ast.dump(there)
        found[name] = here if same else ast.copy_location(ast.IfExp(node.test, here, there), node)
    return found


def _is_plain(value: ast.expr) -> bool:
    """What may be written twice: it makes nothing."""
    if isinstance(value, ast.Tuple | ast.List):
        return all(_is_plain(one) for one in value.elts)
    if isinstance(value, ast.UnaryOp):
        return _is_plain(value.operand)
    return isinstance(value, ast.Constant) or bool(dotted(value))


def _only_read(parents: Parents, name: ast.Name) -> bool:
    """`**options` and `options["lr"]`, which leave it as it is."""
    up: Any = parents[name]
    if up.__class__ is ast.Subscript:
        return up.value is name and isinstance(up.ctx, ast.Load)
    return up.__class__ is ast.keyword and up.arg is None


def _given(name: str, value: ast.expr, place: ast.expr) -> ast.keyword:
    """One argument, which stands where the options stand."""
    given = ast.copy_location(ast.keyword(name, copy.deepcopy(value)), place)
    for one in ast.walk(given):
        if isinstance(one, ast.expr):
            ast.copy_location(one, place)
    return given


def _scope(parents: Parents, node: ast.AST) -> ast.AST:
    node = parents[node]
    while node.__class__ not in _SCOPES:
        node = parents[node]
    return node


def _outer(parents: Parents, node: ast.AST) -> list[ast.AST]:
    """The scopes around the one that holds a node, the file last."""
    found: list[ast.AST] = []
    scope = _scope(parents, node)
    while scope in parents:
        scope = _scope(parents, scope)
        found.append(scope)
    return found
