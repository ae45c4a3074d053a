"""The rule of attribute-narrowed-in-forward."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, classes, follow, scopes, tree, values
from torchlore.check.project import Class, as_function, enclosing_class
from torchlore.check.source import Hit, Source

WORDS = ("forward|__call__",)


def find(source: Source) -> Iterator[Hit]:
    for assign, home in _in_forward(source):
        name = tree.dotted(assign.targets[0])
        index = _index(assign.value, name)
        if _set_by_mode(source, assign, home):
            told = f"`{name}` stays {source.code(assign.value)} when the mode changes back: give it a name of its own, `{name[5:]} = {source.code(assign.value)}`"
            yield source.hit(assign, told)
        cls = enclosing_class(source, assign) if index is not None else None
        if index is None or cls is None or tree.conditions(source, assign) or not _given(source, index):
            continue
        made = [one for one in classes.assigned(cls, name[5:]) if one.method == "__init__"]
        if not made or _for_one_call(cls):
            continue
        if all(one.value is not None and values.sure(one.source, one.value, "tensor") for one in made):
            short = name[5:]
            told = f"`{name}` is replaced by what this batch picks from it, and the next batch picks from that: write `{short} = {source.code(assign.value)}`"
            yield source.hit(assign, told)


def _in_forward(source: Source) -> Iterator[tuple[ast.Assign, tree.FunctionNode]]:
    """`self.x = ...` in each forward pass, with its function."""
    homes: list[tree.FunctionNode] = [*source.all(ast.FunctionDef), *source.all(ast.AsyncFunctionDef)]
    for home in (one for one in homes if one.name in ("forward", "__call__")):
        for assign in tree.under(source, home, ast.Assign):
            if tree.dotted(assign.targets[0]).startswith("self.") and tree.function(source, assign) is home:
                yield assign, home


def _set_by_mode(source: Source, assign: ast.Assign, home: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """`if not self.training: self.p = 0`: what `__init__` set is gone, and no other line of the class sets it again."""
    number = isinstance(tree.literal(assign.value), float | int)
    tests = [source.code(test) for test, _ in tree.conditions(source, assign)] if number else []
    asks = "self.training" in tests or "not self.training" in tests
    cls = enclosing_class(source, assign) if asks else None
    if cls is None or not classes.is_module(cls):
        return False
    name = tree.dotted(assign.targets[0])[5:]
    first = [one for one in classes.assigned(cls, name) if one.method == "__init__"]
    read = [
        one for one in tree.under(source, home, ast.Attribute) if isinstance(one.ctx, ast.Load) and one.attr == name
    ]
    return len(first) == 1 and len(classes.assigned(cls, name)) == 2 and bool(read)


def _index(node: ast.expr, name: str) -> ast.expr | None:
    """What is picked with: `self.x[index]`, `self.x.gather(0, index)`, `self.x.index_select(0, index)`."""
    while isinstance(node, ast.Call) and follow.method(node) in (
        "to",
        "view",
        "reshape",
        "unsqueeze",
        "squeeze",
        "float",
    ):
        node = tree.receiver(node)
    if isinstance(node, ast.Subscript) and tree.dotted(node.value) == name:
        return node.slice
    picked = isinstance(node, ast.Call) and follow.method(node) in ("gather", "index_select", "take")
    if picked and isinstance(node, ast.Call) and tree.dotted(tree.receiver(node)) == name and node.args:
        return node.args[-1]
    return None


def _given(source: Source, index: ast.expr) -> bool:
    """Whether the index comes from what the function is called with."""
    for node in ast.walk(index):
        if isinstance(node, ast.Name) and node.id != "self":
            bound = scopes.reaching(source, node)
            if any(one.how == "parameter" or (one.value is not None and one.how == "assign") for one in bound):
                return True
    return False


def _for_one_call(cls: Class) -> bool:
    """Whether each object of the class is made where it is called, once, so that there is no next batch."""
    init = classes.methods(cls).get("__init__")
    made = calls.callers(as_function(cls.source, init)) if init is not None else []
    return bool(made) and all(_called_once(source, call) for source, call, _ in made)


def _called_once(source: Source, made: ast.Call) -> bool:
    """`Loss()(x, y)`, or `loss = Loss()` in a function that calls `loss(x, y)` in the same loop and keeps it nowhere."""
    held, home = source.parents[made], tree.function(source, made)
    if isinstance(held, ast.Call):
        return held.func is made
    target = held.targets[0] if isinstance(held, ast.Assign) and len(held.targets) == 1 else None
    if home is None or not isinstance(target, ast.Name):
        return False
    uses = [one for one in tree.under(source, home, ast.Name) if one.id == target.id and one is not target]
    runs = [up for one in uses if isinstance(up := source.parents[one], ast.Call) and up.func is one]
    return len(runs) == len(uses) == 1 and tree.loops(source, runs[0]) == tree.loops(source, made)
