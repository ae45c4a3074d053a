"""The rule of frozen-network-in-train-mode."""

import ast
from collections.abc import Iterator

from torchlore.check import flow, follow, frameworks, modules, tree, uses
from torchlore.check.events import Event
from torchlore.check.source import Hit, Source


def find(source: Source) -> Iterator[Hit]:
    if "requires_grad" not in source.text or not flow.may_train(source):
        return
    seen: set[ast.AST] = set()
    for events in flow.rounds(source):
        read = [one for one in events if one.what == "forward" and one.no_grad and one.source is source]
        for event in read if any(one.what == "backward" for one in events) else ():
            name = tree.dotted(event.expr).rpartition(".")[2] if event.expr is not None else ""
            if not name or event.node in seen or frameworks.owned(source, event.node):
                continue
            if _frozen(source, name) and not _switched(source, name) and not _follows(source, name) and _modes(event):
                seen.add(event.node)
                code = source.code(event.expr) if event.expr is not None else name
                told = f"`{code}` is frozen and still in train mode, so its dropout and batch norm change what it says: call `{code}.eval()`"
                yield source.hit(event.node, told)


def _modes(event: Event) -> bool:
    found = event.source.values(event.expr) if event.expr is not None else ()
    return bool(found) and all(modules.mode_layers(event.source, value) is True for value in found)


def _frozen(source: Source, name: str) -> bool:
    """`teacher.requires_grad_(False)`, or a loop over its parameters that does so."""
    for call in source.methods("requires_grad_"):
        off = bool(call.args) and tree.literal(call.args[0]) is False
        if off and tree.dotted(tree.receiver(call)).rpartition(".")[2] == name:
            return True
    for loop in source.all(ast.For):
        over = isinstance(loop.iter, ast.Call) and follow.method(loop.iter) == "parameters"
        same = over and isinstance(loop.iter, ast.Call) and tree.dotted(tree.receiver(loop.iter)).endswith(name)
        if same and "False" in source.code(loop) and "requires_grad" in source.code(loop):
            return True
    return False


def _switched(source: Source, name: str) -> bool:
    """Whether somebody switches it, or something that cannot be named, to evaluation."""
    for use in uses.attributes(source, "eval"):
        given = tree.dotted(use.value)
        if not given or given == "self" or given.rpartition(".")[2] == name:
            return True
        bound = [one for one in uses.names(source, given) if isinstance(one.ctx, ast.Store)]
        if any(isinstance(source.parents[one], ast.For) for one in bound):
            return True
    return f"{name}.train(" in source.text or ".train(False" in source.text


def _follows(source: Source, name: str) -> bool:
    """Whether it is an average or a copy of the trained one: those are often left in train mode."""
    zipped = any(name in source.code(call) and "parameters()" in source.code(call) for call in source.calls("zip"))
    loads = (call for call in source.methods("load_state_dict") if call.args)
    copied = any(
        tree.dotted(tree.receiver(call)).rpartition(".")[2] == name and "state_dict()" in source.code(call.args[0])
        for call in loads
    )
    return zipped or copied or "deepcopy" in source.text
