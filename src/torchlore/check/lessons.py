"""Code that throws a result away on purpose: typed in line by line, as into a console, or run to see how long it takes."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlore.check import follow, tree

if TYPE_CHECKING:
    from torchlore.check.source import Source

_CLOCKS = {"time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time", "process_time_ns",
           "thread_time", "thread_time_ns", "default_timer", "synchronize", "Timer", "Event", "record", "timeit"}  # fmt: skip
_TESTS = ("raises", "warns", "assertRaises", "assertRaisesRegex", "assertWarns", "assertLogs", "FileCheck", "profile")
_SHOWN = {"view", "reshape", "unsqueeze", "squeeze", "permute", "transpose", "flatten", "t", "type", "add", "sub", "mul", "div",
          "abs", "exp", "log", "sqrt", "pow", "clone", "detach", "dim", "size", "mean", "sum", "numpy", "item", "numel", "tensor",
          "zeros", "ones", "empty", "rand", "randn", "randint", "arange", "linspace", "eye", "full", "from_numpy", "matmul", "mm",
          "dot", "equal", "zeros_like", "ones_like", "rand_like", "head", "describe"}  # fmt: skip


def typed_in(source: Source, node: ast.AST) -> bool:
    """Whether this stands outside of functions in a script with three bare expressions or more, as `x.shape` or `torch.ones(2)`."""
    if tree.function(source, node) is not None or tree.loops(source, node):
        return False
    bare = (one for one in source.tree.body if isinstance(one, ast.Expr))
    return sum(_is_shown(source, one) for one in bare) > 2


def _is_shown(source: Source, statement: ast.Expr) -> bool:
    value = statement.value
    if isinstance(value, ast.Call):
        return follow.method(value) in _SHOWN
    cell = statement.end_lineno in source.shown  # a notebook shows it: that says nothing of the other lines
    return isinstance(value, ast.Attribute | ast.Name | ast.Subscript | ast.BinOp | ast.Compare) and not cell


def tried_out(source: Source, call: ast.Call) -> bool:
    """Code that only wants to see whether the operation works, or how long it takes."""
    for up in tree.ancestors(source, call):
        if isinstance(up, ast.Try) or (isinstance(up, ast.FunctionDef) and up.name.startswith(("test", "bench"))):
            return True
        if isinstance(up, ast.ClassDef) and "benchmark" in up.name.lower():
            return True
        if isinstance(up, ast.With):
            names = (
                tree.dotted(item.context_expr.func) for item in up.items if isinstance(item.context_expr, ast.Call)
            )
            if any(name.rpartition(".")[2] in _TESTS for name in names):
                return True
    said = re.search(r"\b(fail (early|fast|here)|sanity|warm.?up)\b", follow.comment(source, call))
    return said is not None or payload(source, call) or timed(source, call) or again_and_again(source, call)


def again_and_again(source: Source, call: ast.expr) -> bool:
    """`for _ in range(1000): torch.add(a, b)`: a loop that does nothing else, and counts for nobody, or never ends."""
    up = source.parents[tree.statement(source, call)]
    endless = isinstance(up, ast.While) and tree.literal(up.test) is True
    others = [one for one in up.body if one is not tree.statement(source, call)] if isinstance(up, tree.Loop) else []
    if not isinstance(up, tree.Loop) or any(not _prints(source, one) for one in others):
        return False
    counted = isinstance(up, ast.For) and (tree.dotted(up.target) == "_" or bool(others))
    return endless or (counted and not _read_after(source, call, up))


def _read_after(source: Source, call: ast.expr, loop: ast.AST) -> bool:
    """Whether somebody wants what goes into it once the loop is over."""
    given = {one.id for one in ast.walk(call) if isinstance(one, ast.Name)} - set(source.names.imported)
    home = tree.function(source, loop) or source.tree
    later = (one for one in tree.under(source, home, ast.Name) if one.lineno > (loop.end_lineno or 0))  # type: ignore[attr-defined]  # a loop has places
    return any(one.id in given for one in later)


def _prints(source: Source, statement: ast.stmt) -> bool:
    """`print(i)`, or `if i % 100 == 0: print(i)`."""
    inner = statement.body[0] if isinstance(statement, ast.If) and len(statement.body) == 1 else statement
    return (
        isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call) and source.name(inner.value.func) == "print"
    )


def payload(source: Source, node: ast.AST) -> bool:
    """Whether this stands in a function of products and moves that keeps none of them: it is run for its time."""
    home = tree.function(source, node)
    plain = (ast.Expr, ast.For, ast.With, ast.If, ast.Pass)
    inner = [one for one in tree.body_nodes(home) if isinstance(one, ast.stmt)] if home is not None else []
    lines = [one.value for one in inner if isinstance(one, ast.Expr) and not isinstance(one.value, ast.Constant)]
    calls = [one for one in lines if isinstance(one, ast.Call)]
    works = [source.name(one.func).startswith("torch.") for one in calls]
    thrown = all(work or follow.method(one) in ("to", "cuda", "cpu") for one, work in zip(calls, works, strict=True))
    alone = len(calls) == len(lines) > 1 and all(isinstance(one, plain) for one in inner)
    return alone and any(works) and thrown


def timed(source: Source, node: ast.AST) -> bool:
    """Whether the function around this looks at a clock."""
    home = tree.function(source, node) or source.tree
    return any(follow.method(one) in _CLOCKS for one in tree.body_nodes(home))
