"""What a call is given where the call itself does not show it: `LSTM(**options)`, and `bidirectional` of an `__init__`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlore.check import calls, classes, follow, scopes, settings, tree, uses
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


def constants(source: Source, node: ast.expr, hops: int = 4, *, options: bool = False) -> list[object]:
    """The constants that an expression may be, through names, parameters and their defaults; `UNKNOWN` among them where not all are seen.

    With `options` also the default of `args.threshold`, which whoever starts the program may change.
    """
    if isinstance(node, ast.Attribute) and not tree.dotted(node).startswith("self."):
        option = _option(source, node) if options else None
        return [option.value] if option is not None else _of_attribute(source, node)
    if isinstance(node, ast.Subscript) and isinstance(tree.literal(node.slice), str):
        return [tree.literal(one) if one is not None else tree.UNKNOWN for _, one in _written(source, node, hops)]
    found = list[object]()
    for one in follow.possible(source, node):
        inner = isinstance(one, ast.Name) and hops > 0
        found += _of_parameter(source, one, hops, options=options) if inner else [tree.literal(one)]  # type: ignore[arg-type]  # a name
    if found or not isinstance(node, ast.Name) or not hops:
        return found or [tree.UNKNOWN]
    return _of_parameter(source, node, hops, options=options)


def _option(source: Source, node: ast.Attribute) -> ast.Constant | None:
    """The default of `args.threshold`, an option of the file's one parser."""
    if "parse_args" not in source.text or not isinstance(node.value, ast.Name):
        return None
    told: dict[settings.Setting, ast.Constant] | None = source.memo.get("settings")
    if told is None:
        told = source.memo["settings"] = settings.known(source.nodes, source.parents)
    return told.get(settings.Setting(node.value.id, node.attr))


def _of_parameter(source: Source, name: ast.Name, hops: int, *, options: bool) -> list[object]:
    bound = scopes.reaching(source, name)
    one = bound[0] if len(bound) == 1 else None
    if one is not None and one.how == "assign" and one.value is not None and not one.path:
        return constants(source, one.value, hops - 1, options=options)
    if one is None or one.how != "parameter" or not isinstance(one.node, ast.arg):
        return [tree.UNKNOWN]
    return [
        literal
        for at, given in _handed(source, one.node)
        for literal in (constants(at, given, hops - 1, options=options) if given is not None else [tree.UNKNOWN])
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


def _keys(source: Source, node: ast.expr) -> set[str] | None:
    """The keys of a dictionary that is written out and that nobody changes; None where they cannot be seen."""
    found = _written(source, node, 6)
    keys = [_named(at, one) for at, one in found]
    known = [one for one in keys if one is not None]
    return set().union(*known) if known and len(known) == len(keys) else None


def _named(source: Source, node: ast.expr | None) -> set[str] | None:
    if isinstance(node, ast.Dict):
        keys = [tree.literal(one) if one is not None else None for one in node.keys]
        return {str(one) for one in keys} if all(isinstance(one, str) for one in keys) else None
    if isinstance(node, ast.Call) and source.name(node.func) == "dict" and not node.args:
        given = [one.arg for one in node.keywords]
        return {one for one in given if one is not None} if None not in given else None
    return None


def _written(source: Source, node: ast.expr | None, hops: int) -> list[tuple[Source, ast.expr | None]]:
    """The dictionaries as they are written that an expression may be, through names, parameters and `config["rnn"]`."""
    if isinstance(node, ast.Subscript) and isinstance(key := tree.literal(node.slice), str) and hops:
        return [
            (at, inner)
            for home, outer in _written(source, node.value, hops - 1)
            for at, inner in _written(home, _entry(home, outer, key), hops - 1)
        ]
    if not isinstance(node, ast.Name):
        return [(source, node)]
    bound = scopes.reaching(source, node)
    one = bound[0] if len(bound) == 1 else None
    if one is None or not hops or _is_changed(source, node.id):
        return [(source, None)]
    if one.how == "assign" and one.value is not None and not one.path:
        return _written(source, one.value, hops - 1)
    arg = one.node if one.how == "parameter" else None
    sites = _handed(source, arg) if isinstance(arg, ast.arg) and arg.arg == node.id else []
    return [found for at, given in sites for found in _written(at, given, hops - 1)] or [(source, None)]


def _entry(source: Source, node: ast.expr | None, key: str) -> ast.expr | None:
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return next((value for name, value in pairs if name is not None and tree.literal(name) == key), None)
    plain = isinstance(node, ast.Call) and source.name(node.func) == "dict"
    return tree.argument(node, None, key) if plain and isinstance(node, ast.Call) else None


def _is_changed(source: Source, name: str) -> bool:
    """Whether something is put into a dictionary of this name, or into one inside it."""
    for one in uses.names(source, name):
        inner: ast.AST = one
        up = source.parents[one]
        while isinstance(up, ast.Subscript) and up.value is inner and isinstance(up.ctx, ast.Load):
            inner, up = up, source.parents[up]
        stored = isinstance(up, ast.Subscript) and up.value is inner and not isinstance(up.ctx, ast.Load)
        if stored or isinstance(up, ast.AugAssign) or (isinstance(up, ast.Attribute) and up.attr in _CHANGES):
            return True
    return False


def _of_attribute(source: Source, node: ast.Attribute) -> list[object]:
    """`args.bidirectional` of a dataclass of the project: what it was made with, or what the class states."""
    if any(not isinstance(one.ctx, ast.Load) for one in uses.attributes(source, node.attr)):
        return [tree.UNKNOWN]
    found = list[object]()
    for value in source.values(node.value):
        owner, made = classes.class_behind(source, value), value.node
        stated = [one for one in owner.node.body if isinstance(one, ast.AnnAssign)] if owner is not None else []
        default = next((one.value for one in stated if tree.dotted(one.target) == node.attr), None)
        given = tree.argument(made, None, node.attr) if isinstance(made, ast.Call) else None
        told = isinstance(made, ast.Call) and (tree.spread(made) or made.args)
        found.append(tree.literal(given or default) if not told else tree.UNKNOWN)
    return found or [tree.UNKNOWN]
