"""A result that has a name for one line only, put where the next line reads it: `h = x.abs()`, `y = h.sum()` as `y = x.abs().sum()`."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, cast

from torchlore.check.pattern import regex
from torchlore.check.tree import dotted
from torchlore.check.walk import children

Nodes = dict[type, list[ast.AST]]
Parents = dict[ast.AST, ast.AST]
_STEPS = {"abs", "add_", "argmax", "bool", "children", "clamp", "clone", "contiguous", "cpu", "cuda", "detach", "double", "eq", "exp",
          "expand", "flatten", "float", "gather", "half", "int", "item", "log", "log_softmax", "long", "max", "mean", "min", "mul_",
          "named_children", "named_parameters", "norm", "numpy", "parameters", "permute", "pow", "requires_grad_", "reshape", "sigmoid",
          "size", "softmax", "sqrt", "square", "squeeze", "sum", "t", "to", "tolist", "topk", "transpose", "unsqueeze", "values",
          "view"}  # fmt: skip
_PARTS = {"values", "indices", "data", "T", "mT"}
_ROOTS = {"torch", "nn", "F", "np", "numpy", "functional", "init", "range", "list"}
_TELLING = regex(r"pred|label|target|true|truth|gt")  # whose name says what it is
_SIMPLE = (ast.Assign, ast.Return, ast.AugAssign, ast.AnnAssign, ast.Expr)
_HIDES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.BoolOp, ast.NamedExpr)
_SCOPES = {ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module}


def join(nodes: Nodes, parents: Parents) -> list[ast.stmt]:
    """Put each such result where it is read; the statements that hold one now."""
    pairs = [pair for one in cast("list[Any]", nodes.get(ast.Assign, ())) if (pair := _pair(parents, one)) is not None]
    if not pairs:
        return []
    named: dict[str, list[ast.Name]] = defaultdict(list)
    for one in cast("list[ast.Name]", nodes[ast.Name]):
        named[one.id].append(one)
    tallies: dict[str, Counter[ast.AST]] = {}
    changed: list[ast.stmt] = []
    for first, block in reversed(pairs):
        name = first.targets[0].id
        place = block.index(first)
        later: Any = block[place + 1]
        read = _first_read(later.value, name)
        if read is None or not _is_step(parents, read, later) or _count(named[name], parents, first, tallies) != 2:
            continue
        _put(parents, read, first.value)
        del block[place]
        changed.append(later)
    return changed


def _pair(parents: Parents, first: Any) -> tuple[Any, list[ast.stmt]] | None:
    """An assignment whose value is one step, and the block in which a simple statement follows."""
    if len(first.targets) != 1 or first.targets[0].__class__ is not ast.Name or not _is_made(first.value):
        return None
    if _TELLING.search(first.targets[0].id):
        return None
    up = parents[first]
    for field in ("body", "orelse", "finalbody"):
        block = getattr(up, field, None)
        if isinstance(block, list) and first in block:
            place = block.index(first) + 1
            return (first, block) if place < len(block) and isinstance(block[place], _SIMPLE) else None
    return None


def _is_made(value: ast.expr) -> bool:
    """`x.abs()`, `torch.ones(n)`: a step of torch, not the call of somebody's net, whose name says what comes out."""
    if not isinstance(value, ast.Call) or any(one.arg == "non_blocking" for one in value.keywords):
        return False  # a copy that is still under way when the line ends
    root, _, last = dotted(value.func).partition(".")
    if last.rpartition(".")[2][:1].isupper():
        return False  # a layer or an optimizer is known by its name
    if root in _ROOTS:
        return True
    return isinstance(value.func, ast.Attribute) and value.func.attr in _STEPS


def _first_read(node: ast.AST | None, name: str) -> ast.Name | None:
    """The read of the name in an expression, if no call runs before it."""
    found = _search(node, name) if node is not None else None
    return found if isinstance(found, ast.Name) else None


def _search(node: ast.AST, name: str) -> ast.Name | bool:
    """The read; True where something runs first; False where there is nothing of either."""
    if isinstance(node, ast.Name):
        return node if node.id == name else False
    if isinstance(node, _HIDES):
        return True
    for child in children(node):
        if found := _search(child, name):
            return found
    return isinstance(node, ast.Call)


def _is_step(parents: Parents, read: ast.Name, statement: ast.stmt) -> bool:
    """Whether the read is the receiver of a step, or given to a call."""
    up: Any = parents[read]
    if up.__class__ is ast.keyword:
        return bool(up.arg)
    if up.__class__ is ast.Call:
        return read in up.args
    if up.__class__ is not ast.Attribute or up.value is not read:
        return False
    called = isinstance(parents[up], ast.Call) and cast("ast.Call", parents[up]).func is up
    whole = isinstance(statement, ast.Expr) and statement.value is parents[up]
    alone = whole and not up.attr.endswith("_")  # nothing is done with it
    return up.attr in _STEPS and not alone if called else up.attr in _PARTS


def _count(same: list[ast.Name], parents: Parents, first: Any, tallies: dict[str, Counter[ast.AST]]) -> int:
    """How often a name stands in the function of the assignment; at the top of a file: in the file."""
    home = parents[first]
    while home.__class__ not in _SCOPES:
        home = parents[home]
    if home.__class__ is ast.Module or len(same) == 2:
        return len(same)
    name = first.targets[0].id
    if name not in tallies:
        tallies[name] = Counter(scope for one in same for scope in _scopes(parents, one))
    return tallies[name][home]


def _scopes(parents: Parents, node: ast.AST) -> Iterator[ast.AST]:
    """The functions and classes around a name."""
    up = parents.get(node)
    while up is not None:
        if up.__class__ in _SCOPES:
            yield up
        up = parents.get(up)


def _put(parents: Parents, read: ast.Name, value: ast.expr) -> None:
    """Put the value in the place of the read."""
    up: Any = parents[read]
    if up.__class__ is ast.Call:
        up.args[up.args.index(read)] = value
    else:
        up.value = value
    parents[value] = up
