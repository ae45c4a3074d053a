"""The rule of ddp-bypassed."""

import ast
from collections.abc import Iterator

from torchlore.check import flow, follow, terms, tree, uses, values
from torchlore.check.calls import callers
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_WRAPPER = "torch.nn.parallel.DistributedDataParallel"

WORDS = ("module", "backward")


def find(source: Source) -> Iterator[Hit]:
    yield from _unwrapped_for_good(source)
    for call in source.all(ast.Call) if any(uses.attributes(source, "module")) else ():
        wrapper = _wrapper(source, call)
        home = tree.function(source, call) if wrapper is not None else None
        if wrapper is None or not _trains(source, call, home) or _called_too(source, wrapper, home):
            continue
        code = source.code(wrapper)
        told = f"this goes round `{code}`, so the gradients are not averaged over the processes: call `{code}(...)`"
        yield source.hit(call, told)


def _unwrapped_for_good(source: Source) -> Iterator[Hit]:
    """`if isinstance(model, DDP): model = model.module`, and the training comes behind it."""
    for one in uses.assigns(source, ast.Name, ast.Attribute):
        name, taken = one.targets[0], one.value
        if (
            not isinstance(taken, ast.Attribute)
            or taken.attr != "module"
            or tree.dotted(name) != tree.dotted(taken.value)
        ):
            continue
        home = tree.function(source, one)
        tests = [test for test, branch in tree.conditions(source, one) if branch and isinstance(test, ast.Call)]
        asked = any(source.name(arg) == _WRAPPER for test in tests for arg in test.args)
        sure = asked or values.made_by(source, taken.value, _WRAPPER) is not None
        bound = [node for node in uses.names(source, tree.dotted(name)) if isinstance(node.ctx, ast.Store)]
        again = [node for node in bound if node.lineno > one.lineno and tree.function(source, node) is home]
        events = flow.events_of(source, home) if sure and not again else []
        if any(event.what == "backward" and getattr(event.at, "lineno", 0) > one.lineno for event in events):
            code = source.code(name)
            told = f"what trains behind this goes round `{code}`, so the gradients are not averaged over the processes"
            yield source.hit(one, f"{told}: give the unwrapped one a name of its own")


def _wrapper(source: Source, call: ast.Call) -> ast.expr | None:
    """`ddp` of `ddp.module(x)`, `ddp.module.forward(x)` and `ddp.module.encoder(x)`, where that is a module."""
    node = _unwrapped(source, call.func)
    if isinstance(node, ast.Attribute) and node.attr == "module":
        inner = node.value
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute) and node.value.attr == "module":
        known = node.attr == "forward" or values.sure(source, node, "module") or _makes_loss(source, call)
        inner = node.value.value if known else None  # type: ignore[assignment]  # None is asked below
    else:
        return None
    return inner if inner is not None and values.made_by(source, inner, _WRAPPER) is not None else None


def _unwrapped(source: Source, func: ast.expr) -> ast.expr:
    """`ddp.module.encoder` for `net.encoder` where `net = ddp.module`."""
    root = func.value if isinstance(func, ast.Attribute) else func
    taken = follow.binding(source, root) if isinstance(root, ast.Name) else None
    if not isinstance(taken, ast.Attribute) or taken.attr != "module":
        return func
    part = isinstance(func, ast.Attribute) and (func.attr == "forward" or values.sure(source, func, "module"))
    return taken if root is func or part else func


def _makes_loss(source: Source, call: ast.Call) -> bool:
    """`losses = ddp.module.calc_loss(x)`: a method of the net whose result is differentiated here."""
    home = tree.function(source, call)
    held = tree.statement(source, call)
    name = held.targets[0] if isinstance(held, ast.Assign) and held.value is call else None
    later = [one for one in source.methods("backward") if home is not None and tree.function(source, one) is home]
    return isinstance(name, ast.Name) and any(call in terms.reached(source, tree.receiver(one)) for one in later)


def _trains(source: Source, call: ast.Call, home: tree.FunctionNode | None) -> bool:
    """Whether a backward pass of the same function follows, with a graph in between."""
    around = " ".join(source.code(one) for one in tree.contexts(source, call))
    if any(word in around for word in ("no_grad", "inference_mode", "no_sync")):
        return False
    later = [one for one in source.methods("backward") if one.lineno > call.lineno]
    if any(tree.function(source, one) is home and _same_turn(source, one, call) for one in later):
        return True
    function = as_function(source, home) if home is not None and source.methods("backward") else None
    asked = [one for caller, one, _ in callers(function) if caller is source] if function is not None else []
    return any(_is_loss(source, one) for one in asked)


def _is_loss(source: Source, call: ast.Call) -> bool:
    """`loss = self.loss(x)` with a `loss.backward()` behind it."""
    target = tree.target(source, call)
    name = tree.dotted(target) if target is not None else ""
    passes = [one for one in source.methods("backward") if tree.dotted(tree.receiver(one)) == name]
    home = tree.function(source, call)
    return bool(name) and any(
        one.lineno > call.lineno and tree.function(source, one) is home and _same_turn(source, one, call)
        for one in passes
    )


def _same_turn(source: Source, backward: ast.Call, call: ast.Call) -> bool:
    return tree.loops(source, backward)[:1] == tree.loops(source, call)[:1]


def _called_too(source: Source, wrapper: ast.expr, home: tree.FunctionNode | None) -> bool:
    """Whether the wrapper itself is called in the same function, which prepares the averaging."""
    code = source.code(wrapper)
    return any(source.code(one.func) == code for one in tree.under(source, home or source.tree, ast.Call))
