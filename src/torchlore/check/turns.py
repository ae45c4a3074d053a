"""A comprehension over batches, as the loop it is: `sum(step(b) for b in loader)` runs a step for every batch."""

from __future__ import annotations

import ast
from typing import Any

from torchlore.check.pattern import regex
from torchlore.check.tree import dotted

Nodes = dict[type, list[ast.AST]]
Parents = dict[ast.AST, ast.AST]
_BATCHES = regex(r"(?i)loader(_\w+)?$|(^|_)dl$|batches$")
_WRAPPERS = {"enumerate", "tqdm", "trange", "track"}
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr)
_LATER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.BoolOp, ast.NamedExpr)
_PLAIN = {"len", "int", "float", "str", "tuple", "list", "type", "isinstance", "zip", "range", "min", "max", "abs"}


def write(nodes: Nodes, parents: Parents) -> list[ast.stmt]:
    """Write each such comprehension as a loop before its statement; the loops."""
    found: list[Any] = [*nodes.get(ast.ListComp, ()), *nodes.get(ast.GeneratorExp, ())]
    loops = (_written(parents, one) for one in found if len(one.generators) == 1 and _over_batches(one))
    return [loop for loop in loops if loop is not None]


def _over_batches(made: Any) -> bool:
    """Whether it runs over a loader and calls something for each batch."""
    over = made.generators[0].iter
    while over.__class__ is ast.Call and dotted(over.func).rpartition(".")[2] in _WRAPPERS and over.args:
        over = over.args[0]
    if not _BATCHES.search(dotted(over).rpartition(".")[2]) or made.generators[0].is_async:
        return False
    calls = (one.func for one in ast.walk(made.elt) if isinstance(one, ast.Call))
    return any(isinstance(func, ast.Name | ast.Attribute) and dotted(func) not in {"", *_PLAIN} for func in calls)


def _written(parents: Parents, made: Any) -> ast.stmt | None:
    statement = _statement(parents, made)
    up: Any = parents[made]
    summed = up.__class__ is ast.Call and dotted(up.func) == "sum" and up.args == [made]
    if statement is None or not (summed or made.__class__ is ast.ListComp):
        return None
    value = up if summed else made
    bound = _named(statement, value)
    name = bound or f"the batches of {made.lineno}:{made.col_offset}"  # which nobody can bind
    start = ast.Constant(0) if summed else ast.List([], ast.Load())
    begin = _at(statement, ast.Assign([ast.Name(name, ast.Store())], start))
    loop = _at(statement, _loop(made, name, summed=summed))
    block = _block(parents, statement)
    place = block.index(statement)
    block[place : place + bool(bound)] = [begin, loop]
    if not bound:
        _replace(parents[value], value, ast.copy_location(ast.Name(name, ast.Load()), value))
    return loop


def _loop(made: Any, name: str, *, summed: bool) -> ast.stmt:
    """What the comprehension does with each batch, as a statement of a loop."""
    held = ast.Name(name, ast.Store() if summed else ast.Load())
    add = ast.Call(ast.Attribute(held, "append", ast.Load()), [made.elt], [])
    body: ast.stmt = ast.AugAssign(held, ast.Add(), made.elt) if summed else ast.Expr(add)
    for test in reversed(made.generators[0].ifs):
        body = ast.If(test, [body], [])
    for node in (body, add, add.func, held):
        ast.copy_location(node, made.elt)
    return ast.For(made.generators[0].target, made.generators[0].iter, [body], [])


def _at(statement: ast.stmt, node: ast.stmt) -> ast.stmt:
    for one in ast.walk(node):
        if isinstance(one, ast.stmt | ast.expr) and not hasattr(one, "lineno"):
            ast.copy_location(one, statement)
    return node


def _statement(parents: Parents, node: ast.AST) -> ast.stmt | None:
    """The simple statement that runs this once, whatever happens before."""
    while not isinstance(node, ast.stmt):
        node = parents[node]
        if isinstance(node, _LATER):
            return None
    return node if isinstance(node, _SIMPLE) and not isinstance(parents[node], ast.ClassDef) else None


def _named(statement: Any, value: ast.expr) -> str:
    """`right` of `right = sum(...)`."""
    whole = statement.__class__ is ast.Assign and statement.value is value and len(statement.targets) == 1
    return statement.targets[0].id if whole and statement.targets[0].__class__ is ast.Name else ""


def _block(parents: Parents, statement: ast.stmt) -> list[ast.stmt]:
    up = parents[statement]
    blocks = (getattr(up, field, None) for field in ("body", "orelse", "finalbody"))
    return next(block for block in blocks if isinstance(block, list) and statement in block)


def _replace(up: Any, old: ast.expr, new: ast.expr) -> None:
    for field in up._fields:
        held = getattr(up, field)
        if held is old:
            setattr(up, field, new)
        elif held.__class__ is list and old in held:
            held[held.index(old)] = new
