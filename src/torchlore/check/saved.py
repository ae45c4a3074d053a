"""What a call of `torch.save` writes: the expressions in it, with their keys."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from torchlore.check.scopes import bound as bound_by
from torchlore.check.scopes import reaching, scope_of
from torchlore.check.tree import FunctionNode, argument, literal
from torchlore.check.uses import names

if TYPE_CHECKING:
    from torchlore.check.source import Source


class Saved(NamedTuple):
    """The parts of one saved object."""

    items: tuple[tuple[str, ast.expr], ...]  # key ("" for a thing saved as it is) and expression
    whole: bool  # whether these are surely all parts


def contents(source: Source, call: ast.Call) -> Saved:
    """The parts of what this call of `torch.save` writes, through a variable and keys added to it."""
    given = argument(call, 0, "obj")
    return _parts(source, given) if given is not None else Saved((), whole=False)


def _parts(source: Source, node: ast.expr) -> Saved:
    if isinstance(node, ast.Dict):
        items = [
            (str(literal(key)), value) for key, value in zip(node.keys, node.values, strict=True) if key is not None
        ]
        return Saved(tuple(items), whole=len(items) == len(node.keys))
    if isinstance(node, ast.Call) and source.name(node.func) == "dict" and not node.args:
        named = [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg]
        return Saved(tuple(named), whole=len(named) == len(node.keywords))
    if isinstance(node, ast.Name):
        return _of_variable(source, node)
    return Saved((("", node),), whole=not isinstance(node, ast.DictComp | ast.Call) or _is_state(node))


def _is_dict(source: Source, node: ast.expr | None) -> bool:
    return isinstance(node, ast.Call) and (source.name(node.func) == "dict" or _is_state(node))


def _is_state(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "state_dict"


def _of_variable(source: Source, name: ast.Name) -> Saved:
    bound = reaching(source, name)
    if len(bound) == 1 and isinstance(bound[0].node, ast.arg):
        return _of_parameter(source, bound[0].node) or Saved((("", name),), whole=False)
    found = [binding for binding in bound if binding.how == "assign" and not binding.path]
    given = [one.value for one in found if isinstance(one.value, ast.Dict) or _is_dict(source, one.value)]
    if len(found) != 1 or not given:
        return Saved((("", name),), whole=False)
    first = _parts(source, given[0])  # type: ignore[arg-type]  # an expression: both tests say so
    scope, added, known = scope_of(source, name), [], True
    for other in names(source, name.id):
        if scope_of(source, other) is not scope or other is name:
            continue
        up = source.parents[other]
        if isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Store):
            statement = source.parents[up]
            added += [(str(literal(up.slice)), statement.value)] if isinstance(statement, ast.Assign) else []
        elif isinstance(up, ast.Attribute) and up.attr in ("update", "setdefault"):
            known = False
    return Saved((*first.items, *added), whole=first.whole and known and scope in bound_by(source, name.id))


def _of_parameter(source: Source, arg: ast.arg) -> Saved | None:
    """What the one caller in the file gives to `def save_checkpoint(state, path)`."""
    from torchlore.check.calls import callers, given_argument
    from torchlore.check.project import as_function

    home = source.parents[source.parents[arg]]
    if not isinstance(home, FunctionNode):
        return None
    function = as_function(source, home)
    given = [(other, given_argument(function, call, arg, skip)) for other, call, skip in callers(function)]
    if len(given) != 1 or given[0][0] is not source or given[0][1] is None:
        return None
    return _parts(source, given[0][1])
