"""Small questions about nodes: what is around them, and what a call was given."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any, TypeVar, cast

from torchlore.check.walk import FIELDS, last, stack_children

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlore.check.source import Source

Node = TypeVar("Node", bound=ast.AST)
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.AsyncFor | ast.While
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_FUNCTIONS = {ast.FunctionDef, ast.AsyncFunctionDef}  # asking a set for the class is three times as fast as isinstance
_EDGES = {ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef}
_LOOPS = {ast.For, ast.AsyncFor, ast.While}
_HOLDERS = {ast.If, ast.Try, ast.With}
_TESTS = {ast.If, ast.While, ast.IfExp}
_WITHS = {ast.With, ast.AsyncWith}
_OWN_SCOPE = {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda}
_WRITTEN = {ast.UnaryOp, ast.Tuple, ast.List, ast.BinOp}  # what may be a literal, beside a constant
UNKNOWN = object()  # what `literal` answers where the text does not say


def ancestors(source: Source, node: ast.AST) -> Iterator[ast.AST]:
    """What the node stands in, from its parent to the module."""
    parents = source.parents
    up = parents.get(node)
    while up is not None:
        yield up
        up = parents.get(up)


def statement(source: Source, node: ast.AST) -> ast.stmt:
    """The innermost statement that holds the node; itself if it is one."""
    while not isinstance(node, ast.stmt):
        node = source.parents[node]
    return node


def function(source: Source, node: ast.AST) -> FunctionNode | None:
    """The function whose body holds the node, or None at the top of the file."""
    parents, child = source.parents, node
    up: Any = parents.get(node)
    while up is not None:
        if up.__class__ in _FUNCTIONS and isinstance(child, ast.stmt):
            return up  # type: ignore[return-value]  # its class was compared; a cast costs a call
        child, up = up, parents.get(up)
    return None


def class_of(source: Source, node: ast.AST) -> ast.ClassDef | None:
    """The innermost class around the node, through its methods."""
    parents = source.parents
    up = parents.get(node)
    while up is not None and up.__class__ is not ast.ClassDef:
        up = parents.get(up)
    return up  # type: ignore[return-value]  # its class was compared


def method_class(source: Source, node: FunctionNode) -> ast.ClassDef | None:
    """The class of which the function is a method, or None."""
    up = source.parents.get(node)
    while up.__class__ in _HOLDERS and up is not None:
        up = source.parents.get(up)
    return up if isinstance(up, ast.ClassDef) else None


def home(source: Source, node: ast.AST | None) -> ast.AST:
    """The class, else the function, in which something is made."""
    home = function(source, node) if node is not None else None
    return (method_class(source, home) or home) if home is not None else source.tree


def loops(source: Source, node: ast.AST) -> list[Loop]:
    """The loops whose body holds the node, innermost first, up to the function's edge."""
    found: list[Loop] = []
    parents, child = source.parents, node
    up: Any = parents.get(node)
    while up is not None:
        cls = up.__class__
        if cls in _LOOPS and isinstance(child, ast.stmt) and child not in up.orelse:
            found.append(up)
        if cls in _EDGES:
            break
        child, up = up, parents.get(up)
    return found


def conditions(source: Source, node: ast.AST) -> list[tuple[ast.expr, bool]]:
    """Tests that must be true (or false) for the node to run, innermost first, up to the function's edge."""
    found: list[tuple[ast.expr, bool]] = []
    parents, child = source.parents, node
    up: Any = parents.get(node)
    while up is not None:
        cls = up.__class__
        if cls in _TESTS and child is not up.test and not _starts_program(up.test):
            found.append((up.test, child is up.body if cls is ast.IfExp else child not in up.orelse))
        elif cls in _EDGES:
            break
        child, up = up, parents.get(up)
    return found


def _starts_program(test: ast.expr) -> bool:
    """`__name__ == "__main__"` chooses nothing: it is how a program begins."""
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def contexts(source: Source, node: ast.AST) -> list[ast.expr]:
    """Context managers around the node inside its function, and the function's decorators, innermost first."""
    found: list[ast.expr] = []
    parents, child = source.parents, node
    up: Any = parents.get(node)
    while up is not None:
        cls = up.__class__
        if cls in _WITHS and isinstance(child, ast.stmt):
            found += [item.context_expr for item in reversed(up.items)]
        if cls in _FUNCTIONS and isinstance(child, ast.stmt):
            return found + cast("list[ast.expr]", up.decorator_list)
        child, up = up, parents.get(up)
    return found


def inside(source: Source, node: ast.AST, outer: ast.AST) -> bool:
    """Whether the node stands in (or is) the other one."""
    parents = source.parents
    up: ast.AST | None = node
    while up is not None and up is not outer:
        up = parents.get(up)
    return up is outer


def argument(call: ast.Call, position: int | None, name: str = "") -> ast.expr | None:
    """The argument given at this position or by this name; None if it is not visible (`lacks` tells absent for sure)."""
    for keyword in call.keywords:
        if keyword.arg == name and name:
            return keyword.value
    if position is None or any(isinstance(arg, ast.Starred) for arg in call.args[: position + 1]):
        return None
    return call.args[position] if position < len(call.args) else None


def spread(call: ast.Call) -> bool:
    """Whether the call passes `*args` or `**kwargs`, so that what it is given cannot be seen."""
    return any(isinstance(arg, ast.Starred) for arg in call.args) or any(kw.arg is None for kw in call.keywords)


def lacks(call: ast.Call, position: int | None, name: str) -> bool:
    """Whether the call surely does not give this argument."""
    return not spread(call) and argument(call, position, name) is None


def keyword(call: ast.Call, name: str) -> ast.keyword | None:
    """The keyword argument of this name, as a node."""
    return next((kw for kw in call.keywords if kw.arg == name), None)


def literal(node: ast.AST | None) -> Any:
    """The value of a constant, a negative number or a tuple or list of them; `UNKNOWN` where it is none."""
    if isinstance(node, ast.Constant):
        return node.value
    if node.__class__ not in _WRITTEN:
        return UNKNOWN
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = literal(node.operand)
        return -value if isinstance(value, int | float) else UNKNOWN
    if isinstance(node, ast.Tuple | ast.List):
        items = [literal(item) for item in node.elts]
        return UNKNOWN if UNKNOWN in items else tuple(items)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow | ast.Mult | ast.Div):
        left, right = literal(node.left), literal(node.right)
        if isinstance(node.op, ast.Mult) and isinstance(left, tuple) and right.__class__ is int and 0 < right < 64:
            return left * right  # `(0.5,) * 3`
        numbers = all(isinstance(side, int | float) and abs(side) < 1e6 for side in (left, right))
        if numbers and not (isinstance(node.op, ast.Div) and right == 0):
            return _arithmetic(node.op, left, right)
    return UNKNOWN


def _arithmetic(operator: ast.operator, left: float, right: float) -> Any:
    if isinstance(operator, ast.Mult):
        return left * right
    if isinstance(operator, ast.Div):
        return left / right
    return left**right if abs(right) < 64 and left > 0 else UNKNOWN


def receiver(call: ast.Call) -> ast.expr:
    """`x` of `x.method(...)`; the callee itself where it is not a method call."""
    return call.func.value if isinstance(call.func, ast.Attribute) else call.func


def is_statement(source: Source, node: ast.expr) -> bool:
    """Whether the expression stands alone, so that its value is thrown away."""
    return isinstance(source.parents.get(node), ast.Expr)


def is_shown(source: Source, node: ast.expr) -> bool:
    """Whether a notebook shows the value below the cell, because the expression ends it."""
    up = source.parents.get(node)
    return isinstance(up, ast.Expr) and up.end_lineno in source.shown and source.parents[up] is source.tree


def target(source: Source, value: ast.expr) -> ast.expr | None:
    """What is given a value: `a` of `a = f()`, and of `a, b = f(), g()`."""
    up = source.parents[value]
    whole = source.parents[up] if isinstance(up, ast.Tuple) else up
    given = whole.targets[0] if isinstance(whole, ast.Assign) else None
    if not isinstance(up, ast.Tuple):
        return given
    both = isinstance(given, ast.Tuple) and len(given.elts) == len(up.elts)
    return given.elts[up.elts.index(value)] if isinstance(given, ast.Tuple) and both else None


def guards(source: Source, node: ast.AST, outer: ast.AST) -> list[tuple[ast.expr, bool]]:
    """The tests of `if test: continue` that stand before it in its own block or one around that, up to `outer`: each is False here."""
    found: list[tuple[ast.expr, bool]] = []
    here: ast.AST = statement(source, node)
    while here is not outer and isinstance(up := source.parents.get(here), ast.stmt):
        block = next((one for one in blocks(up) if here in one), [])
        above = block[: block.index(here)] if block else []  # type: ignore[arg-type]  # it stands in the block
        asked = (one for one in above if isinstance(one, ast.If) and not one.orelse)
        found += [(one.test, False) for one in asked if isinstance(one.body[-1], ast.Continue)]
        here = up
    return found


def leaves_after(source: Source, node: ast.AST) -> bool:
    """Whether the block in which it stands, or the `try` around that, goes on to `continue`, `break`, `return` or `raise`."""
    here = statement(source, node)
    while isinstance(up := source.parents[here], ast.stmt | ast.ExceptHandler):
        for block in (getattr(up, part, []) for part in ("body", "orelse", "finalbody")):
            if here in block and isinstance(block[-1], ast.Continue | ast.Break | ast.Return | ast.Raise):
                return not isinstance(up, ast.FunctionDef | ast.AsyncFunctionDef | ast.For | ast.While)
        if not isinstance(up, ast.Try | ast.ExceptHandler | ast.With):
            return False
        here = up  # type: ignore[assignment]  # a handler stands in a `try`
    return False


def blocks(node: ast.AST) -> list[list[ast.stmt]]:
    """The lists of statements right under a statement: its body, what follows `else`, what follows `finally`."""
    return [one for name in ("body", "orelse", "finalbody") if isinstance(one := getattr(node, name, None), list)]


def body_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes under a function or loop, without those of functions, classes and lambdas defined in it."""
    stack: list[ast.AST] = []
    stack_children(node, stack)
    while stack:
        item = stack.pop()
        yield item
        if item.__class__ not in _OWN_SCOPE and FIELDS[item.__class__]:
            stack_children(item, stack)


def under(source: Source, node: ast.AST, *types: type[Node]) -> list[Node]:
    """Nodes of these types in a node, or itself, functions defined in it included: slices of those of the file."""
    places = _places(source)
    numbers: dict[type, list[int]] = source.memo.setdefault("numbers", {})
    first, final = places[node], places[last(node)]
    found: list[Any] = []
    for cls in types:
        nodes = source.nodes.get(cls, [])
        if cls not in numbers:
            numbers[cls] = [places[one] for one in nodes]
        found += nodes[bisect_left(numbers[cls], first) : bisect_right(numbers[cls], final)]
    return found


def among(source: Source, nodes: Sequence[Node], outer: ast.AST | None) -> Sequence[Node]:
    """Those of some nodes, given in the order of the text, that stand in the outer one; all of them where it is None."""
    if outer is None or not nodes:
        return nodes
    places = _places(source)
    first = bisect_left(nodes, places[outer], key=places.__getitem__)
    return nodes[first : bisect_right(nodes, places[last(outer)], key=places.__getitem__)]


def _places(source: Source) -> dict[ast.AST, int]:
    """Where each node comes in the order of the text."""
    places: dict[ast.AST, int] | None = source.memo.get("places")
    if places is None:
        places = source.memo["places"] = dict(zip(source.flat, range(len(source.flat)), strict=True))
    return places


def dotted(node: ast.AST) -> str:
    """`self.model.fc` as text, "" if it is more than names and dots."""
    one: Any = node
    text = ""
    while one.__class__ is ast.Attribute:
        text = f".{one.attr}{text}"
        one = one.value
    return f"{one.id}{text}" if one.__class__ is ast.Name else ""


def parameters(node: FunctionNode | ast.Lambda) -> list[ast.arg]:
    """Every parameter, stars included, in order."""
    args = node.args
    stars = [arg for arg in (args.vararg, args.kwarg) if arg is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *stars]


def ends(block: list[ast.stmt]) -> type[ast.stmt] | None:
    """`Return`, `Raise`, `Continue` or `Break` if the block surely ends so, else None."""
    last = block[-1] if block else None
    if isinstance(last, ast.Return | ast.Raise | ast.Continue | ast.Break):
        return type(last)
    if isinstance(last, ast.If) and last.orelse:
        first, second = ends(last.body), ends(last.orelse)
        return first if first and second else None
    if isinstance(last, ast.With):
        return ends(last.body)
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        exits = ("sys.exit", "exit", "quit", "os._exit")
        return cast("type[ast.stmt]", ast.Raise) if dotted(last.value.func) in exits else None
    return None
