"""Nodes of a file grouped by what they hold, in tables that are made once: a rule that wants a few need not go through all."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlore.check.source import Source


def indexed(source: Source, index: type[ast.expr]) -> list[ast.Subscript]:
    """Every `x[...]` whose index is of this class, in the order of the text."""
    return _subscripts(source).get(index, [])


def stored(source: Source) -> list[ast.Subscript]:
    """Every `x[...]` that is written to, in the order of the text."""
    return _subscripts(source).get(ast.Store, [])


def _subscripts(source: Source) -> dict[type, list[ast.Subscript]]:
    table: dict[type, list[ast.Subscript]] | None = source.memo.get("grouped.subscripts")
    if table is None:
        table = source.memo["grouped.subscripts"] = defaultdict(list)
        store = table[ast.Store]
        for node in source.all(ast.Subscript):
            table[node.slice.__class__].append(node)
            if node.ctx.__class__ is ast.Store:
                store.append(node)
    return table


def operations(source: Source, *operators: type[ast.operator]) -> list[ast.BinOp]:
    """Every `a + b` of these operators, operator by operator in the order of the text."""
    table: dict[type, list[ast.BinOp]] | None = source.memo.get("grouped.operations")
    if table is None:
        table = source.memo["grouped.operations"] = defaultdict(list)
        for node in source.all(ast.BinOp):
            table[node.op.__class__].append(node)
    return [one for operator in operators for one in table.get(operator, ())]


def alone(source: Source) -> dict[str, list[ast.Call]]:
    """The calls `x.method(...)` whose value is thrown away, by the method."""
    table: dict[str, list[ast.Call]] | None = source.memo.get("grouped.alone")
    if table is None:
        table = source.memo["grouped.alone"] = defaultdict(list)
        for statement in source.all(ast.Expr):
            call = statement.value
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                table[call.func.attr].append(call)
    return table
