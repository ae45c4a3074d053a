"""The rule of weights-kept-by-reference."""

import ast
from collections.abc import Iterator

from torchlore.check import edits, flow, follow, tree, values
from torchlore.check.identity import identity
from torchlore.check.source import Hit, Source

_SHARES = {"detach", "cpu", "float", "view", "flatten", "reshape"}


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("step")):
        return
    yield from _entries(source)
    for assign in source.all(ast.Assign):
        tensor, target = _kept(source, assign.value), assign.targets[0]
        if tensor is not None and isinstance(target, ast.Name | ast.Attribute) and _compared(source, assign, target):
            fixed = f"{source.code(_parameter(tensor))}.detach().clone()"
            if isinstance(tensor, ast.Call) and source.name(tensor.func) == "list":
                fixed = f"[p.detach().clone() for p in {source.code(tensor.args[0])}]"
            message = f"`{source.code(target)}` shares the parameters' memory and follows every step: keep `{fixed}`"
            yield source.hit(
                assign, message, edits.replace(source, tensor, fixed), severity="warning"
            )  # it may be meant


def _entries(source: Source) -> Iterator[Hit]:
    """`shadow[name] = param.data` for every parameter, where entry or parameter is then changed in place."""
    for assign in source.all(ast.Assign) if "named_parameters" in source.text else ():
        target, loop = assign.targets[0], next(iter(tree.loops(source, assign)), None)
        owner = _parameter(assign.value)
        if not isinstance(target, ast.Subscript) or not isinstance(owner, ast.Name) or not isinstance(loop, ast.For):
            continue
        model = _gone_through(source, loop, owner.id)
        if model and (_overwritten(source, loop, assign, owner.id) or _mixed(source, tree.dotted(target.value), model)):
            code = source.code(target)
            told = f"`{code}` shares the memory of `{owner.id}`, so what changes one changes both: keep `{owner.id}.detach().clone()`"
            yield source.hit(assign, told, edits.replace(source, assign.value, f"{owner.id}.detach().clone()"))


def _gone_through(source: Source, loop: ast.For, name: str) -> str:
    """`model` of `for name, param in model.named_parameters()`."""
    over = follow.method(loop.iter) == "named_parameters" and isinstance(loop.target, ast.Tuple)
    mine = over and tree.dotted(loop.target.elts[-1]) == name  # type: ignore[attr-defined]  # a tuple
    return source.code(tree.receiver(loop.iter)) if mine and isinstance(loop.iter, ast.Call) else ""


def _overwritten(source: Source, loop: ast.For, assign: ast.Assign, name: str) -> bool:
    """`param.data.copy_(average)` further down in the same loop: the entry is no backup."""
    calls = (one for one in tree.under(source, loop, ast.Call) if follow.method(one) == "copy_")
    return any(one.lineno > assign.lineno and tree.dotted(_parameter(tree.receiver(one))) == name for one in calls)


def _mixed(source: Source, box: str, model: str) -> bool:
    """`shadow[name].mul_(decay).add_(param.data)` in a loop over the same network's parameters."""
    for call in source.methods("mul_", "copy_", "lerp_", "add_", "sub_"):
        entry, loop = tree.receiver(call), next(iter(tree.loops(source, call)), None)
        if not isinstance(entry, ast.Subscript) or tree.dotted(entry.value) != box or not isinstance(loop, ast.For):
            continue
        name = tree.dotted(loop.target.elts[-1]) if isinstance(loop.target, ast.Tuple) else ""
        used = name and any(one.id == name for one in tree.under(source, tree.statement(source, call), ast.Name))
        if used and _gone_through(source, loop, name) == model:
            return True
    return False


def _kept(source: Source, node: ast.expr) -> ast.expr | None:
    """The expression that stands for a parameter's own memory: in a list or dict made of them, or alone."""
    if isinstance(node, ast.ListComp | ast.DictComp):
        element = node.elt if isinstance(node, ast.ListComp) else node.value
        over = follow.method(node.generators[0].iter) in {"parameters", "named_parameters"}
        return element if over and isinstance(_parameter(element), ast.Name) else None
    listed = isinstance(node, ast.Call) and source.name(node.func) == "list" and len(node.args) == 1
    if isinstance(node, ast.Call) and listed and follow.method(node.args[0]) == "parameters":
        return node
    owner = _parameter(node)
    own = isinstance(owner, ast.Attribute) and owner.attr in {"weight", "bias"}
    return node if own and values.sure(source, node, "tensor") else None


def _parameter(node: ast.expr) -> ast.expr:
    """`layer.weight` of `layer.weight.data`, `p` of `p.detach().cpu()`: through what copies nothing."""
    while True:
        if isinstance(node, ast.Call) and follow.method(node) in _SHARES:
            node = tree.receiver(node)
        elif isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        else:
            return node


def _compared(source: Source, assign: ast.Assign, target: ast.Name | ast.Attribute) -> bool:
    """Whether steps follow, and what was kept is then set against the parameters it came from."""
    name = target.id if isinstance(target, ast.Name) else target.attr
    over = next((n for n in ast.walk(assign.value) if follow.method(n) in {"parameters", "named_parameters"}), None)
    model = source.code(tree.receiver(over)) if isinstance(over, ast.Call) else "?"
    later = (
        any(call.lineno > assign.lineno and _same_run(source, assign, call) for call in source.methods("step"))
        or tree.loops(source, assign)
        or _steps_below(source, assign)
    )
    uses: list[ast.Name | ast.Attribute] = [*source.all(ast.Name), *source.all(ast.Attribute)] if later else []
    same = (use for use in uses if (use.id if isinstance(use, ast.Name) else use.attr) == name)
    return any(
        isinstance(u.ctx, ast.Load)
        and u.lineno > assign.lineno
        and _set_against(source, u, model)
        and _meanwhile(source, assign, u)
        and not _other_net(source, u, over)
        for u in same
    )


def _same_run(source: Source, assign: ast.Assign, step: ast.Call) -> bool:
    """Whether the step can come between: what a function keeps under a name of its own is gone when it ends."""
    home = tree.function(source, assign)
    local = home is not None and isinstance(assign.targets[0], ast.Name)
    return not local or tree.inside(source, step, home or source.tree)


def _meanwhile(source: Source, assign: ast.Assign, use: ast.expr) -> bool:
    """Whether anything runs between the two: a check right behind sees what was there."""
    home = tree.function(source, assign)
    if home is None or tree.function(source, use) is not home or tree.loops(source, assign):
        return True
    first, last = assign.end_lineno or assign.lineno, tree.statement(source, use).lineno
    return any(isinstance(one, ast.Call) and first < one.lineno < last for one in tree.body_nodes(home))


def _other_net(source: Source, use: ast.expr, over: ast.AST | None) -> bool:
    """FedProx: `for p, kept in zip(net.parameters(), kept)`, with the weights of another net that nobody steps here."""
    if not isinstance(over, ast.Call):
        return False
    own = tree.receiver(over)
    around: list[ast.AST] = []
    for up in tree.ancestors(source, use):
        if isinstance(up, ast.For):
            around.append(up.iter)
        elif isinstance(up, ast.ListComp | ast.GeneratorExp):
            around += [one.iter for one in up.generators]
    asked = [call for part in around for call in tree.under(source, part, ast.Call)]
    nets = [tree.receiver(call) for call in asked if follow.method(call) in {"parameters", "named_parameters"}]
    mine = identity(source, own)
    return bool(nets) and all(
        source.code(one) != source.code(own) and (mine is None or identity(source, one) != mine) for one in nets
    )


def _steps_below(source: Source, assign: ast.Assign) -> bool:
    """Whether a function that is called further down, in the same function, takes a step."""
    home = tree.function(source, assign)
    below = [one for one in tree.under(source, home or source.tree, ast.Call) if one.lineno > assign.lineno]
    made = (flow.called(source, one) for one in below)
    return any(one is not None and ".step(" in one.source.code(one.node) for one in made)


def _set_against(source: Source, use: ast.expr, model: str) -> bool:
    """In a difference, a comparison, or a zip with the live parameters."""
    for up in tree.ancestors(source, use):
        if isinstance(up, ast.BinOp):
            return isinstance(up.op, ast.Sub)
        if isinstance(up, ast.Call):
            ask = follow.method(up) in {"equal", "allclose", "isclose", "mse_loss", "sub", "dist"}
            return ask or (source.name(up.func) == "zip" and f"{model}.parameters()" in source.code(up))
        if isinstance(up, ast.stmt):
            return False
    return False
