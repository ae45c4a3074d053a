"""Walks over trees: what stands right under a node, which comes last, and the tables of a whole file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_NO_NODES = {"ctx", "op", "ops", "id", "attr", "arg", "asname", "module", "level", "kind", "type_comment", "conversion",
             "is_async", "simple", "type_ignores", "rest"}  # fmt: skip
FIELDS: dict[type, tuple[str, ...]] = {
    cls: tuple(reversed([field for field in cls._fields if field not in _NO_NODES]))
    for cls in vars(ast).values()
    if isinstance(cls, type) and issubclass(cls, ast.AST)
}
FIELDS[ast.Constant] = FIELDS[ast.Global] = FIELDS[ast.Nonlocal] = FIELDS[ast.alias] = ()
for _named in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar):
    FIELDS[_named] = tuple(field for field in FIELDS[_named] if field != "name")
FIELDS[ast.MatchClass] = tuple(field for field in FIELDS[ast.MatchClass] if field != "kwd_attrs")
FIELDS[ast.MatchSingleton] = ()


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right under a node, in the order of the text; names of contexts and operators left out."""
    found: list[ast.AST] = []
    stack_children(node, found)
    return found[::-1]


def stack_children(node: ast.AST, stack: list[ast.AST]) -> None:
    """Put the nodes right under a node on a stack, so that they are popped in the order of the text."""
    for field in FIELDS[node.__class__]:
        child = getattr(node, field)
        if child.__class__ is list:
            stack += [item for item in child[::-1] if item is not None]
        elif child is not None:
            stack.append(child)


def last(node: ast.AST) -> ast.AST:
    """The node in or under this one that comes last in the order of the text."""
    below: ast.AST | None = node
    while below is not None:
        node, below = below, None
        for field in FIELDS[node.__class__]:  # the last field comes first
            child = getattr(node, field)
            if child.__class__ is list:
                child = next((item for item in reversed(child) if item is not None), None)
            if child is not None:
                below = child
                break
    return node


def index(tree: ast.Module) -> tuple[dict[type, list[ast.AST]], dict[ast.AST, ast.AST], list[ast.AST]]:
    """The nodes by class, the parent of each, and all of them, in the order of the text."""
    nodes: dict[type, list[ast.AST]] = {}
    parents: dict[ast.AST, ast.AST] = {}
    flat: list[ast.AST] = []
    known: dict[type, tuple[Callable[[ast.AST], None], tuple[str, ...]]] = {}  # where a class's nodes go, its fields
    stack: list[ast.AST] = [tree]
    pop, push, keep = stack.pop, stack.append, flat.append
    while stack:
        node = pop()
        keep(node)
        cls = node.__class__
        try:  # which costs nothing where it is known
            add, fields = known[cls]
        except KeyError:
            nodes[cls] = []
            add, fields = known[cls] = nodes[cls].append, FIELDS[cls]
        add(node)
        for field in fields:
            child = getattr(node, field)
            if child is None:
                continue
            if child.__class__ is list:
                for item in child[::-1]:
                    if item is not None:
                        parents[item] = node
                        push(item)
            else:
                parents[child] = node
                push(child)
    return nodes, parents, flat
