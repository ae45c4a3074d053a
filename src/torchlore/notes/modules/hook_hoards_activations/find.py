"""The rule of hook-hoards-activations."""

import ast
from collections.abc import Iterator

from torchlore.check import flow, iteration, tree, values
from torchlore.check.source import Hit, Source
from torchlore.check.tree import FunctionNode


def find(source: Source) -> Iterator[Hit]:
    calls = list(source.methods("register_forward_hook"))
    yield from _again(source, calls)
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


def _again(source: Source, calls: list[ast.Call]) -> Iterator[Hit]:
    """Registered in every turn of a loop over a loader, and never removed."""
    for call in calls if not any(source.methods("remove")) else ():
        over = [one.iter for one in tree.loops(source, call) if isinstance(one, ast.For)]
        if any(values.sure(source, iteration.unwrapped(source, one), "loader", weak=True) for one in over):
            told = "every batch adds one more hook, and all of them run: register it once above the loop, or remove it"
            yield source.hit(call, told)


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
