"""What a call is given where the call itself does not show it: `LSTM(**options)`, and `bidirectional` of an `__init__`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlore.check import calls, follow, scopes, tree, uses
from torchlore.check.project import as_function

if TYPE_CHECKING:
    from torchlore.check.source import Source

_CHANGES = {"update", "setdefault", "pop", "clear"}


def lacks(source: Source, call: ast.Call, position: int | None, name: str) -> bool:
    """Whether the call surely does not give this argument, also where it is given dictionaries that are written out."""
    if not tree.spread(call):
        return tree.lacks(call, position, name)
    starred = any(isinstance(one, ast.Starred) for one in call.args)
    packed = [one.value for one in call.keywords if one.arg is None]
    if starred or tree.keyword(call, name) is not None or (position is not None and len(call.args) > position):
        return False
    keys = [_keys(source, one) for one in packed]
    return all(one is not None and name not in one for one in keys)


def constants(source: Source, node: ast.expr, hops: int = 4) -> list[object]:
    """The constants that an expression may be, through names, parameters and their defaults; `UNKNOWN` among them where not all are seen."""
    found = list[object]()
    for one in follow.possible(source, node):
        found += _of_parameter(source, one, hops) if isinstance(one, ast.Name) and hops else [tree.literal(one)]
    if found or not isinstance(node, ast.Name) or not hops:
        return found or [tree.UNKNOWN]
    return _of_parameter(source, node, hops)


def _of_parameter(source: Source, name: ast.Name, hops: int) -> list[object]:
    bound = scopes.reaching(source, name)
    one = bound[0] if len(bound) == 1 else None
    if one is not None and one.how == "assign" and one.value is not None and not one.path:
        return constants(source, one.value, hops - 1)
    if one is None or one.how != "parameter" or not isinstance(one.node, ast.arg):
        return [tree.UNKNOWN]
    return [
        literal
        for at, given in _handed(source, one.node)
        for literal in (constants(at, given, hops - 1) if given is not None else [tree.UNKNOWN])
    ] or [tree.UNKNOWN]


def _handed(source: Source, arg: ast.arg) -> list[tuple[Source, ast.expr | None]]:
    """What each caller gives for a parameter, its default where a caller gives nothing."""
    home = source.parents[source.parents[arg]]
    if not isinstance(home, ast.FunctionDef | ast.AsyncFunctionDef):
        return []
    function = as_function(source, home)
    found = list[tuple["Source", ast.expr | None]]()
    for at, call, skip in calls.callers(function):
        given = calls.given_argument(function, call, arg, skip)
        left_out = given is None and not tree.spread(call)
        found.append((source, calls.default_of(function, arg)) if left_out else (at, given))
    return found


def _keys(source: Source, node: ast.expr, hops: int = 4) -> set[str] | None:
    """The keys of a dictionary that is written out and that nobody changes; None where they cannot be seen."""
    if isinstance(node, ast.Dict):
        keys = [tree.literal(one) if one is not None else None for one in node.keys]
        return {str(one) for one in keys} if all(isinstance(one, str) for one in keys) else None
    if isinstance(node, ast.Call) and source.name(node.func) == "dict" and not node.args:
        given = [one.arg for one in node.keywords]
        return {one for one in given if one is not None} if None not in given else None
    if not isinstance(node, ast.Name) or not hops or _is_changed(source, node.id):
        return None
    bound = scopes.reaching(source, node)
    one = bound[0] if len(bound) == 1 else None
    if one is not None and one.how == "assign" and one.value is not None and not one.path:
        return _keys(source, one.value, hops - 1)
    arg = one.node if one is not None and one.how == "parameter" else None
    sites = _handed(source, arg) if isinstance(arg, ast.arg) and arg.arg == node.id else []
    found = [_keys(at, given, hops - 1) if given is not None else None for at, given in sites]
    known = [keys for keys in found if keys is not None]
    return set().union(*known) if known and len(known) == len(found) else None


def _is_changed(source: Source, name: str) -> bool:
    """Whether something is put into a dictionary of this name."""
    for one in uses.names(source, name):
        up = source.parents[one]
        stored = isinstance(up, ast.Subscript) and not isinstance(up.ctx, ast.Load)
        if stored or isinstance(up, ast.AugAssign) or (isinstance(up, ast.Attribute) and up.attr in _CHANGES):
            return True
    return False
