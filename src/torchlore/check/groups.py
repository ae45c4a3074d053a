"""The groups of parameters that an optimizer is given."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlore.check import calls, flow, follow, tree, uses

if TYPE_CHECKING:
    from torchlore.check.source import Source


def listed(source: Source, call: ast.Call) -> list[ast.expr]:
    """The groups that an optimizer is made with, one by one; none where they cannot all be seen."""
    return _grown(source, _given(source, call))


def keys(source: Source, group: ast.expr) -> dict[str, tuple[ast.expr | ast.keyword, ast.expr]]:
    """Where each key of `{"params": p}` or `dict(params=p)` stands, and its value; none where not all can be seen."""
    if isinstance(group, ast.Dict):
        pairs = [(key, value) for key, value in zip(group.keys, group.values, strict=True) if key is not None]
        return {str(tree.literal(key)): (key, value) for key, value in pairs} if len(pairs) == len(group.keys) else {}
    if not isinstance(group, ast.Call) or group.args or source.name(group.func) != "dict":
        return {}
    return {one.arg: (one, one.value) for one in group.keywords if one.arg} if not tree.spread(group) else {}


def unfiltered(source: Source, held: ast.expr | None) -> ast.expr | None:
    """`net.body.parameters()` of `filter(lambda p: p.requires_grad, net.body.parameters())`."""
    if isinstance(held, ast.Call) and source.name(held.func) == "filter" and len(held.args) == 2:
        return held.args[1]
    return held


def _given(source: Source, call: ast.Call) -> ast.expr | None:
    """What an optimizer is to train: its first argument, `params=...`, or that of `Adam(**options(model))`."""
    first = tree.argument(call, 0, "params")
    spread = [one.value for one in call.keywords if one.arg is None]
    if first is None and len(spread) == 1:
        first = _option(source, follow.followed(source, spread[0]))
    made = flow.called(source, first) if isinstance(first, ast.Call) else None
    back = calls.returned(made) if made is not None and made.source is source else []
    first = back[0] if len(back) == 1 else first  # Adam(groups(model))
    return follow.followed(source, first) if first is not None else None


def _option(source: Source, options: ast.expr) -> ast.expr | None:
    """`params` of `{"params": ..., "lr": ...}` or `dict(params=...)`, also where a function of the file makes it."""
    made = flow.called(source, options) if isinstance(options, ast.Call) else None
    back = calls.returned(made) if made is not None and made.source is source else []
    box = follow.followed(source, back[0]) if len(back) == 1 else options
    if isinstance(box, ast.Call) and source.name(box.func) == "dict":
        return tree.argument(box, None, "params")
    pairs = zip(box.keys, box.values, strict=True) if isinstance(box, ast.Dict) else ()
    return next((value for key, value in pairs if key is not None and tree.literal(key) == "params"), None)


def _grown(source: Source, given: ast.expr | None) -> list[ast.expr]:
    """The groups of a list and, by its name, those that `groups += [...]` and `groups.append(...)` put behind them."""
    held = source.parents[given] if isinstance(given, ast.List) else None
    target = held.targets[0] if isinstance(held, ast.Assign) else given
    name = target.id if isinstance(target, ast.Name) else ""
    found: list[ast.expr] = list(given.elts) if isinstance(given, ast.List) and not name else []
    home = tree.function(source, given) if given is not None else None
    for use in uses.names(source, name):
        up = source.parents[use]
        call = source.parents.get(up)
        if tree.function(source, use) is not home:
            continue
        if isinstance(up, ast.Assign | ast.AugAssign) and isinstance(up.value, ast.List):
            found += up.value.elts
        elif isinstance(up, ast.Attribute) and up.attr == "append" and isinstance(call, ast.Call):
            found += call.args
        elif not isinstance(up, ast.Call | ast.Return | ast.keyword):
            return []
    return found
