"""The rule of loss-changed-in-place."""

import ast
from collections.abc import Iterator

from torchlore.check import edits, scopes, tree, uses, values
from torchlore.check.source import Hit, Source


def find(source: Source) -> Iterator[Hit]:
    changes = [one for one in source.all(ast.AugAssign) if isinstance(one.target, ast.Name)]
    named = uses.assigns(source, None, ast.Name) if changes else []
    called_twice = {one.id for pair in named for one in (pair.value, *pair.targets) if isinstance(one, ast.Name)}
    for change in changes:
        target = change.target
        if not isinstance(target, ast.Name) or target.id not in called_twice:
            continue
        if not isinstance(change.op, ast.Add | ast.Sub | ast.Mult | ast.Div) or not _in_place(source, change):
            continue
        other = _other_name(source, change, target) or _first_name(source, change, target)
        if other and values.sure(source, _reading(source, change, target), "tensor"):
            sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}[type(change.op)]
            value = source.code(change.value)
            simple = isinstance(change.value, ast.Name | ast.Call | ast.Attribute | ast.Constant)
            value = value if simple or isinstance(change.op, ast.Add) else f"({value})"
            edit = edits.replace(source, change, f"{target.id} = {target.id} {sign} {value}")
            message = f"`{sign}=` changes the tensor itself, and `{other}` with it: write `{edit.text}`"
            yield source.hit(change, message, edit)


def _in_place(source: Source, change: ast.AugAssign) -> bool:
    """`a += b`, and not `a = a + b`, which is read as the same where a number begins."""
    return source.code(change)[len(source.code(change.target)) :].lstrip()[:1] in "+-*/"


def _reading(source: Source, change: ast.AugAssign, target: ast.Name) -> ast.expr:
    """A use of the name before the change, whose value can be asked for."""
    read = [one for one in uses.names(source, target.id) if isinstance(one.ctx, ast.Load)]
    before = [one for one in read if one.lineno < change.lineno]
    return before[-1] if before else target


def _other_name(source: Source, change: ast.AugAssign, target: ast.Name) -> str:
    """What else the tensor is called before the change and read as after it; "" if nothing."""
    home, found, alias = tree.function(source, change), "", target
    for assign in sorted(source.all(ast.Assign), key=lambda one: one.lineno):
        name = assign.targets[0]
        if assign.lineno >= change.lineno or tree.function(source, assign) is not home:
            continue
        if isinstance(assign.value, ast.Name) and assign.value.id == target.id and isinstance(name, ast.Name):
            found, alias = name.id, name
        elif any(isinstance(one, ast.Name) and one.id in (target.id, found) for one in assign.targets):
            found = ""  # a new tensor from here on
    later = (one for one in uses.names(source, found) if one.lineno > change.lineno and isinstance(one.ctx, ast.Load))
    seen = any(bound.node is alias for one in later for bound in scopes.reaching(source, one))
    return found if seen else ""  # else it is bound anew first


def _first_name(source: Source, change: ast.AugAssign, target: ast.Name) -> str:
    """`data_loss` of `loss = data_loss; loss += penalty`, where it is read after that; "" where it is no loss."""
    before = [one for one in scopes.reaching(source, target) if one.statement is not change]
    first = before[0].value if len(before) == 1 and not before[0].path else None
    given = values.state(source, first) if isinstance(first, ast.Name) else None
    if given is None or given.state != "loss" or not isinstance(first, ast.Name):
        return ""
    home, bound = tree.function(source, change), [one.node for one in scopes.reaching(source, first)]
    same = [one for one in uses.names(source, first.id) if tree.function(source, one) is home]
    later = [one for one in same if one.lineno > change.lineno and isinstance(one.ctx, ast.Load)]
    return first.id if any([way.node for way in scopes.reaching(source, one)] == bound for one in later) else ""
