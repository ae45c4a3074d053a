"""The rule of weights-kept-by-reference."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, classes, edits, flow, follow, project, scopes, tree, uses, values
from torchlore.check.identity import identity
from torchlore.check.source import Hit, Source

_HOLDS = (ast.ListComp, ast.DictComp, ast.Call, ast.Attribute)  # what may hand out a parameter
_SHARES = {"detach", "cpu", "float", "view", "flatten", "reshape"}

WORDS = ("step", "parameters|named_parameters|weight|bias")


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("step")):
        return
    yield from (*_entries(source), *_averaged(source))
    for assign in (one for kind in _HOLDS for one in uses.assigns(source, None, kind)):
        target = assign.targets[0]
        held = _own_result(source, assign.value)
        tensor = _kept(source, held) if isinstance(target, ast.Name | ast.Attribute) else None
        if (
            tensor is not None
            and isinstance(target, ast.Name | ast.Attribute)
            and _compared(source, assign, target, held)
        ):
            fixed = f"{source.code(_parameter(tensor))}.detach().clone()"
            if isinstance(tensor, ast.Call) and source.name(tensor.func) == "list":
                fixed = f"[p.detach().clone() for p in {source.code(tensor.args[0])}]"
            message = f"`{source.code(target)}` shares the parameters' memory and follows every step: keep `{fixed}`"
            at = assign if held is assign.value else tree.statement(source, held)
            yield source.hit(at, message, edits.replace(source, tensor, fixed), severity="warning")  # it may be meant


def _own_result(source: Source, value: ast.expr) -> ast.expr:
    """`[p.data for p in self.net.parameters()]` of `self.snapshot()`, which gives back that and nothing else."""
    made = (
        flow.called(source, value)
        if isinstance(value, ast.Call) and tree.dotted(value.func).startswith("self.")
        else None
    )
    backs = calls.returned(made) if made is not None and made.source is source else []
    return backs[0] if len(backs) == 1 and isinstance(backs[0], ast.ListComp | ast.DictComp) else value


def _entries(source: Source) -> Iterator[Hit]:
    """`shadow[name] = param.data` for every parameter, where entry or parameter is then changed in place."""
    for assign in uses.assigns(source, ast.Subscript) if "named_parameters" in source.text else ():
        target, owner = assign.targets[0], _parameter(assign.value)
        loop = next(iter(tree.loops(source, assign)), None) if isinstance(owner, ast.Name) else None
        if not isinstance(target, ast.Subscript) or not isinstance(owner, ast.Name) or not isinstance(loop, ast.For):
            continue
        model, box = _gone_through(source, loop, owner.id), tree.dotted(target.value)
        if model is not None and (
            _overwritten(source, loop, assign, owner.id) or _mixed(source, box, model) or _pulled(source, box, model)
        ):
            code = source.code(target)
            told = f"`{code}` shares the memory of `{owner.id}`, so what changes one changes both: keep `{owner.id}.detach().clone()`"
            yield source.hit(assign, told, edits.replace(source, assign.value, f"{owner.id}.detach().clone()"))


def _averaged(source: Source) -> Iterator[Hit]:
    """`self.shadow = {n: p for n, p in model.named_parameters()}`, whose entries are then averaged in place."""
    for assign in uses.assigns(source, None, ast.DictComp) if "named_parameters" in source.text else ():
        made = assign.value
        over = made.generators[0].iter if isinstance(made, ast.DictComp) else None
        entry = _kept(source, made)
        if (
            not isinstance(over, ast.Call)
            or entry is None
            or not isinstance(made, ast.DictComp)
            or made.generators[0].ifs
        ):
            continue
        box = tree.dotted(assign.targets[0])
        if box and not _of_a_copy(source, tree.receiver(over)) and _mixed(source, box, tree.receiver(over)):
            fixed = f"{source.code(_parameter(entry))}.detach().clone()"
            told = f"the entries of `{box}` are the parameters themselves, so what changes one changes both: keep `{fixed}`"
            yield source.hit(assign, told, edits.replace(source, entry, fixed), severity="warning")


def _of_a_copy(source: Source, net: ast.expr) -> bool:
    """Whether nobody knows the net, or somebody hands in a copy: `Average(copy.deepcopy(model))`."""
    bound = scopes.reaching(source, net) if isinstance(net, ast.Name) else []
    handed = [one.node for one in bound if isinstance(one.node, ast.arg) and one.how == "parameter"]
    given = [(at, part) for arg in handed for at, part in calls.given(source, arg) if part is not None]
    return not tree.dotted(net) or any("copy" in at.code(follow.followed(at, part)) for at, part in given)


def _gone_through(source: Source, loop: ast.For, name: str) -> ast.expr | None:
    """`model` of `for name, param in model.named_parameters()`, or of `.items()` of a dict that was made so."""
    over: ast.expr | None = loop.iter
    if not isinstance(loop.target, ast.Tuple) or tree.dotted(loop.target.elts[-1]) != name:
        return None
    if isinstance(over, ast.Call) and follow.method(over) == "items":
        over = _dict_of(source, tree.receiver(over))
    mine = isinstance(over, ast.Call) and follow.method(over) == "named_parameters"
    return tree.receiver(over) if mine and isinstance(over, ast.Call) else None


def _dict_of(source: Source, node: ast.expr) -> ast.expr | None:
    """`model.named_parameters()` of `{n: p for n, p in model.named_parameters()}` or `dict(model.named_parameters())`."""
    made = follow.followed(source, node)
    owner = project.enclosing_class(source, node) if tree.dotted(node).startswith("self.") else None
    if owner is not None and isinstance(node, ast.Attribute):
        found = classes.assigned(owner, node.attr)
        made = found[0].value if len(found) == 1 and found[0].value is not None else made
    if isinstance(made, ast.DictComp):
        plain = isinstance(made.value, ast.Name) and isinstance(made.generators[0].target, ast.Tuple)
        return made.generators[0].iter if plain else None
    return made.args[0] if isinstance(made, ast.Call) and source.name(made.func) == "dict" and made.args else None


def _pulled(source: Source, box: str, model: ast.expr) -> bool:
    """`(param - anchor[name]) ** 2` in a loop over the same network's parameters: the penalty is always 0."""
    for gap in source.all(ast.BinOp):
        loop = next(iter(tree.loops(source, gap)), None) if isinstance(gap.op, ast.Sub) else None
        for kept, live in ((gap.left, gap.right), (gap.right, gap.left)) if isinstance(loop, ast.For) else ():
            entry = isinstance(kept, ast.Subscript) and tree.dotted(kept.value) == box
            name = tree.dotted(_parameter(live)) if entry else ""
            net = _gone_through(source, loop, name) if name and isinstance(loop, ast.For) else None
            if net is not None and _one_net(source, net, model):
                return True
    return False


def _one_net(source: Source, one: ast.expr, other: ast.expr) -> bool:
    mine = identity(source, one)
    return bool(_called(source, one) & _called(source, other)) or (mine is not None and mine == identity(source, other))


def _called(source: Source, node: ast.expr) -> set[str]:
    """The names of a network: `self.net`, and `net` where the constructor keeps its argument so."""
    owner = project.enclosing_class(source, node) if tree.dotted(node).startswith("self.") else None
    found = classes.assigned(owner, node.attr) if owner is not None and isinstance(node, ast.Attribute) else []
    names = {kept.id for one in found if isinstance(kept := _value(one), ast.Name)}
    return {source.code(node)} | (names if len(found) == 1 else set())


def _value(one: classes.Attribute) -> ast.expr | None:
    """What an attribute is given, also as one part of `self.a, self.b = a, b`."""
    whole = one.value
    if len(one.path) == 1 and isinstance(whole, ast.Tuple) and one.path[0] < len(whole.elts):
        return whole.elts[one.path[0]]
    return whole if not one.path else None


def _overwritten(source: Source, loop: ast.For, assign: ast.Assign, name: str) -> bool:
    """`param.data.copy_(average)` further down in the same loop: the entry is no backup."""
    calls = (one for one in tree.under(source, loop, ast.Call) if follow.method(one) == "copy_")
    return any(one.lineno > assign.lineno and tree.dotted(_parameter(tree.receiver(one))) == name for one in calls)


def _mixed(source: Source, box: str, model: ast.expr) -> bool:
    """`shadow[name].mul_(decay).add_(param.data)` in a loop over the same network's parameters."""
    for call in source.methods("mul_", "copy_", "lerp_", "add_", "sub_"):
        entry, loop = tree.receiver(call), next(iter(tree.loops(source, call)), None)
        if not isinstance(entry, ast.Subscript) or tree.dotted(entry.value) != box or not isinstance(loop, ast.For):
            continue
        name = tree.dotted(loop.target.elts[-1]) if isinstance(loop.target, ast.Tuple) else ""
        used = name and any(one.id == name for one in tree.under(source, tree.statement(source, call), ast.Name))
        net = _gone_through(source, loop, name) if used else None
        if net is not None and _one_net(source, net, model):
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
    return node if own and not _tied(source, node) and values.sure(source, node, "tensor") else None


def _tied(source: Source, node: ast.expr) -> bool:
    """`self.head.weight = self.embedding.weight`: two layers share one parameter on purpose."""
    up = source.parents[node]
    target = up.targets[0] if isinstance(up, ast.Assign) else None
    return isinstance(target, ast.Attribute) and target.attr in {"weight", "bias"}


def _parameter(node: ast.expr) -> ast.expr:
    """`layer.weight` of `layer.weight.data`, `p` of `p.detach().cpu()`: through what copies nothing."""
    return follow.peeled(node, _SHARES)


def _compared(source: Source, assign: ast.Assign, target: ast.Name | ast.Attribute, held: ast.expr) -> bool:
    """Whether steps follow, and what was kept is then set against the parameters it came from."""
    name = target.id if isinstance(target, ast.Name) else target.attr
    over = next((n for n in ast.walk(held) if follow.method(n) in {"parameters", "named_parameters"}), None)
    model = source.code(tree.receiver(over)) if isinstance(over, ast.Call) else "?"
    later = (
        any(call.lineno > assign.lineno and _same_run(source, assign, call) for call in source.methods("step"))
        or tree.loops(source, assign)
        or _steps_below(source, assign)
    )
    same: list[ast.Name | ast.Attribute] = [*uses.names(source, name), *uses.attributes(source, name)] if later else []
    return any(
        isinstance(u.ctx, ast.Load)
        and u.lineno > assign.lineno
        and _set_against(source, u, model)
        and _meanwhile(source, assign, u)
        and not _other_net(source, u, over)
        and not _made_anew(source, assign, u)
        for u in same
    )


def _made_anew(source: Source, assign: ast.Assign, use: ast.expr) -> bool:
    """`model, optimizer = build()` between the two: what was kept belongs to a net that nobody steps any more."""
    if isinstance(assign.value, ast.ListComp | ast.DictComp):
        return False
    names = {one.id for one in ast.walk(assign.value) if isinstance(one, ast.Name)}
    home = tree.function(source, assign)
    if home is None or tree.function(source, use) is not home or tree.loops(source, assign):
        return False
    bound = (one for one in tree.under(source, home, ast.Name) if isinstance(one.ctx, ast.Store) and one.id in names)
    return any(assign.lineno < one.lineno < use.lineno for one in bound)


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
