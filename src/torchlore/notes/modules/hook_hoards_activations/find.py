"""The rule of hook-hoards-activations."""

import ast
from collections.abc import Iterator

from torchlore.check import calls as flow_calls
from torchlore.check import flow, iteration, scopes, tree, values
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source
from torchlore.check.tree import FunctionNode

_PILED = "each turn adds one hook more to"
_ON_MODULES = (
    "register_forward_hook",
    "register_forward_pre_hook",
    "register_full_backward_hook",
    "register_backward_hook",
)


def find(source: Source) -> Iterator[Hit]:
    removes = any(source.methods("remove"))
    registered = [call for call in source.methods(*_ON_MODULES) if tree.is_statement(source, call) or not removes]
    yield from (source.hit(call, f"{_PILED} `{source.code(tree.receiver(call))}`, and all of them run in every pass: add it once above the loop, or "
                           "keep the handle and call `handle.remove()`") for call in registered if _again(source, call))  # fmt: skip
    calls = list(source.methods("register_forward_hook"))
    if not calls or not any(source.methods("backward")):
        return
    emptied = {_root(tree.receiver(call)) for call in source.methods("clear", "pop", "popleft")}
    emptied |= {_root(one) for gone in source.all(ast.Delete) for one in gone.targets if isinstance(one, ast.Subscript)}
    removed = {tree.function(source, one) for one in source.methods("remove")}
    calls = [one for one in calls if tree.function(source, one) not in removed]  # for a few passes
    for hook in _hooks(source, calls):
        given = [arg.arg for arg in tree.parameters(hook)]
        for call in ast.walk(hook):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
                continue
            box, kept = call.func.value, call.args[0] if len(call.args) == 1 else None
            stores = [n for n in source.all(ast.Name) if n.id == _root(box) and isinstance(n.ctx, ast.Store)]
            own = given[1:] if given[:1] == ["self"] else given
            whole = isinstance(kept, ast.Name) and len(own) in (3, 4) and kept.id == own[-1]
            if (
                whole
                and _root(box) not in emptied
                and len(stores) <= 1
                and not any(tree.loops(source, n) for n in stores)
            ):
                message = f"`{source.code(box)}` keeps the graph of every batch: append `{given[-1]}.detach()`, or better a number"
                yield source.hit(call, message)


def _again(source: Source, call: ast.Call) -> bool:
    """Whether it runs in every turn of a loop for the same net: over a loader, over steps, or in a function that such a loop calls."""
    loops = tree.loops(source, call)
    over = [one.iter for one in loops if isinstance(one, ast.For)]
    if any(values.sure(source, iteration.unwrapped(source, one), "loader", weak=True) for one in over):
        return True
    root = tree.receiver(call)
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    bound = scopes.reaching(source, root) if isinstance(root, ast.Name) and not tree.conditions(source, call) else []
    if loops:
        return bool(bound) and not any(tree.inside(source, one.statement, loop) for one in bound for loop in loops)
    home = tree.function(source, call)
    handed = bool(bound) and all(one.how == "parameter" and one.name != "self" for one in bound)
    if not handed or home is None:
        return False
    function, arg = as_function(source, home), bound[0].node
    sites = flow_calls.callers(function) if isinstance(arg, ast.arg) else []
    return any(_turns(where, at, flow_calls.given_argument(function, at, arg, skip)) for where, at, skip in sites)  # type: ignore[arg-type]  # asked above


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return tree.dotted(node)


def _hooks(source: Source, calls: list[ast.Call]) -> Iterator[FunctionNode | ast.Lambda]:
    """The functions given to the calls: named, a lambda, or what a maker of hooks returns."""
    for call in calls:
        node = call.args[0] if call.args else None
        if isinstance(node, ast.Lambda):
            yield node
        elif isinstance(node, ast.Attribute) and tree.dotted(node.value) == "self":
            here = tree.class_of(source, call)
            yield from (
                one for one in ast.walk(here or source.tree) if isinstance(one, FunctionNode) and one.name == node.attr
            )
        elif isinstance(node, ast.Name | ast.Call):
            made = flow.called(source, node) if isinstance(node, ast.Call) else None  # `self.make_hook(name)`
            target = made or source.project.resolve(source, node.func if isinstance(node, ast.Call) else node)
            inside = list(ast.walk(target.node)) if target is not None and target.source is source else []
            yield from (
                one
                for one in inside
                if isinstance(one, FunctionNode) and (one is not inside[0]) == isinstance(node, ast.Call)
            )


def _turns(source: Source, call: ast.Call, given: ast.expr | None) -> bool:
    """Whether a loop calls it with a net that was made outside."""
    loops = tree.loops(source, call)
    bound = scopes.reaching(source, given) if isinstance(given, ast.Name) else []
    return bool(loops) and bool(bound) and not any(tree.inside(source, one.statement, loops[-1]) for one in bound)
