"""The rule of argument-passed-over."""

import ast
from collections.abc import Iterator

from torchlore.check import tree, uses
from torchlore.check.source import Hit, Source

_TAKES = (ast.Attribute, ast.IfExp, ast.BoolOp)  # what may give a name a default

WORDS = ("self",)


def find(source: Source) -> Iterator[Hit]:
    for held in (one for kind in _TAKES for one in uses.assigns(source, ast.Name, kind)):
        name = held.targets[0]
        given = _default(held.value, name.id) if isinstance(name, ast.Name) and len(held.targets) == 1 else ""
        home = tree.function(source, held) if given else None
        if home is None or not isinstance(name, ast.Name):
            continue
        if name.id not in {arg.arg for arg in tree.parameters(home)} or not _asked(source, held, name.id):
            continue
        below = [one for one in tree.under(source, home, ast.Name) if one.id == name.id and one.lineno > held.lineno]
        own = [
            one
            for one in tree.under(source, home, ast.Attribute)
            if tree.dotted(one) == given and isinstance(one.ctx, ast.Load) and one.lineno > held.lineno
        ]
        hidden = any(one.id in ("locals", "vars", "eval", "exec") for one in tree.under(source, home, ast.Name))
        if own and not below and not hidden and not tree.loops(source, held):
            yield source.hit(
                held,
                f"`{name.id}` is filled here and never read: the lines below read `{given}`, whatever is passed in",
            )


def _default(value: ast.expr, name: str) -> str:
    """`self.tau` of `self.tau if tau is None else tau`, `tau or self.tau` and `self.tau`."""
    parts = [value]
    if isinstance(value, ast.IfExp):
        parts = [value.body, value.orelse]
    elif isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or):
        parts = value.values
    same = [one for one in parts if isinstance(one, ast.Attribute) and tree.dotted(one) == f"self.{name}"]
    rest = [one for one in parts if one not in same]
    return f"self.{name}" if len(same) == 1 and all(tree.dotted(one) == name for one in rest) else ""


def _asked(source: Source, held: ast.Assign, name: str) -> bool:
    """Alone it stands under `if tau is None:`."""
    if not isinstance(held.value, ast.Attribute):
        return True
    return any(
        source.code(test).replace(" ", "") == f"{name}isNone"
        for test, branch in tree.conditions(source, held)
        if branch
    )
