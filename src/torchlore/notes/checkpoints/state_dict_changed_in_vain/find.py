"""The rule of state-dict-changed-in-vain."""

import ast
from collections.abc import Iterator

from torchlore.check import flow, follow, scopes, tree, uses, values
from torchlore.check.source import Hit, Source

WORDS = ("state_dict|load_state_dict",)


def find(source: Source) -> Iterator[Hit]:
    yield from (*_own(source), *_loaded_into_another(source), *_merged_for_nobody(source))
    for call in source.methods("state_dict"):
        net, up = tree.receiver(call), source.parents[call]
        way = source.parents[up] if isinstance(up, ast.Attribute) and up.attr in ("update", "pop") else None
        updates = isinstance(way, ast.Call) and tree.is_statement(source, way)
        found = [] if call.args else [*_in_vain(source, call, updates=updates)]
        if not found or (not updates and values.maybe(source, net, "optimizer", "scheduler", "scaler", weak=True)):
            continue  # deeper in, an optimizer hands out its own dictionaries
        yield from found if not _may_be_another(source, net) else ()


def _in_vain(source: Source, call: ast.Call, *, updates: bool) -> Iterator[Hit]:
    """What is done with the dictionary at once, or with the name that it gets."""
    model, up = source.code(tree.receiver(call)), source.parents[call]
    stores = isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Store) and up.value is call
    stores = stores and not isinstance(source.parents[up], ast.AugAssign)  # `d[key] -= x` works on the tensor itself
    if updates or stores:
        told = f"this changes a dictionary that nobody keeps, `{model}` stays as it is: keep it by a name and give it to `{model}.load_state_dict`"
        yield source.hit(up, told)
    elif isinstance(up, ast.Assign) and up.value is call and isinstance(up.targets[0], ast.Name):
        yield from _never_loaded(source, up.targets[0], model)


def _may_be_another(source: Source, owner: ast.expr) -> bool:
    """`source: nn.Module | State`: the other one may keep the dictionary that it hands out."""
    bound = scopes.reaching(source, owner) if isinstance(owner, ast.Name) else []
    said = [one.node.annotation for one in bound if isinstance(one.node, ast.arg)]
    return any(one is not None and ("|" in source.code(one) or "Union" in source.code(one)) for one in said)


def _own(source: Source) -> Iterator[Hit]:
    """`target.load_state_dict(target.state_dict())`, where another network was meant."""
    for call in source.methods("load_state_dict"):
        given, net = call.args[0] if call.args else None, source.code(tree.receiver(call))
        plain = isinstance(given, ast.Call) and follow.method(given) == "state_dict" and not given.args
        same = plain and isinstance(given, ast.Call) and source.code(tree.receiver(given)) == net
        if not same or net == "self" or not tree.is_statement(source, call) or follow.in_test(source, call):
            continue
        if not values.maybe(source, tree.receiver(call), "optimizer", weak=True):
            # an optimizer casts its state to what the parameters are now
            yield source.hit(call, f"`{net}` is given its own weights and stays as it is: take the other network's")


def _loaded_into_another(source: Source) -> Iterator[Hit]:
    """`def restore(model, path): model = Net(); model.load_state_dict(...)`, and nobody gets the new one."""
    for load in source.methods("load_state_dict"):
        net, home = tree.receiver(load), tree.function(source, load)
        if home is None or not isinstance(net, ast.Name) or net.id not in {arg.arg for arg in tree.parameters(home)}:
            continue
        bound = scopes.reaching(source, net)
        made = bound[0].value if len(bound) == 1 and bound[0].how == "assign" and not bound[0].path else None
        if not isinstance(made, ast.Call) or net.id in source.code(made) or not values.sure(source, made, "module"):
            continue
        later = [one for one in tree.under(source, home, ast.Name) if one.id == net.id and one.lineno >= made.lineno]
        called = [one for one in later if isinstance(source.parents[one], ast.Attribute)]
        if len(called) == len(later) - 1 and not any("return" in one for one in _returns(source, home, net.id)):
            told = f"`{net.id}` is a new net from here on, and the caller's stays as it was: load into the one that is given, or return this one"
            yield source.hit(bound[0].statement, told)


def _merged_for_nobody(source: Source) -> Iterator[Hit]:
    """`weights = average(states)` in a loop of rounds, where `average` gives a dictionary back and nobody reads `weights`."""
    for assign in uses.assigns(source, ast.Name, ast.Call):
        name, call = assign.targets[0], assign.value
        if not isinstance(name, ast.Name) or not isinstance(call, ast.Call) or not tree.loops(source, assign):
            continue
        read = any(isinstance(one.ctx, ast.Load) for one in uses.names(source, name.id))
        if read or flow.called(source, call) is None or not values.sure(source, call, "state_dict"):
            continue
        told = f"`{name.id}` is a dictionary that nobody reads, so no network gets these weights: give it to `load_state_dict`"
        yield source.hit(assign, told, severity="warning")


def _returns(source: Source, home: tree.FunctionNode, name: str) -> list[str]:
    """The returns and stores that hand the name on."""
    found = [one for one in tree.under(source, home, ast.Return) if one.value is not None and name in source.code(one)]
    return [source.code(one) for one in found]


def _never_loaded(source: Source, name: ast.Name, model: str) -> Iterator[Hit]:
    """`own = model.state_dict(); own.update(...)`, or `own = {**own, **weights}`, and `own` is never read again."""
    bound = scopes.bound(source, name.id).get(scopes.scope_of(source, name), [])
    merged = [one.value for one in bound if one.node is not name and one.value is not None and _merges(one, name.id)]
    if len(bound) != 1 + len(merged):
        return
    home = tree.function(source, name) or source.tree
    names = [one for one in tree.under(source, home, ast.Name) if one.id == name.id and one is not name]
    uses = [one for one in names if isinstance(one.ctx, ast.Load) and not _counted(source, one)]
    changes = [one for one in uses if _changes(source, one) or any(tree.inside(source, one, two) for two in merged)]
    last = max((one.lineno for one in changes), default=0)
    if (
        changes
        and not any(one.lineno >= last and one not in changes and not _in(source, one, changes) for one in uses)
        and not any(map(_may_come_back, tree.loops(source, changes[-1])))
        and not any(
            source.code(tree.receiver(one)) == model and one.lineno > last
            for one in source.methods("load_state_dict")
            if tree.inside(source, one, home)
        )  # the part itself is loaded
    ):
        told = f"`{name.id}` is changed and never loaded, so `{model}` stays as it is: `{model}.load_state_dict({name.id})`"
        yield source.hit(changes[-1], told)


def _merges(one: scopes.Binding, name: str) -> bool:
    """`{**own, **weights}` and `own | weights`, given to `own` again."""
    value = one.value
    if isinstance(value, ast.Dict):
        parts = [part for key, part in zip(value.keys, value.values, strict=True) if key is None]
        return len(parts) > 1 and tree.dotted(parts[0]) == name
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr) and tree.dotted(value.left) == name


def _may_come_back(loop: ast.AST) -> bool:
    """Any loop but one over the entries of a dictionary, which fills another."""
    return not isinstance(loop, ast.For) or follow.method(loop.iter) not in ("items", "keys")


def _changes(source: Source, use: ast.Name) -> bool:
    up = source.parents[use]
    if isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Store) and isinstance(source.parents[up], ast.Assign):
        return up.value is use
    call = source.parents[up] if isinstance(up, ast.Attribute) else None
    return isinstance(call, ast.Call) and follow.method(call) == "update" and tree.is_statement(source, call)


def _counted(source: Source, use: ast.Name) -> bool:
    """`len(own)`, and what is only printed or logged: the dictionary goes nowhere."""
    up = source.parents[use]
    if isinstance(up, ast.Call) and use in up.args and source.name(up.func) == "len":
        return True
    said = tree.statement(source, use)
    call = said.value if isinstance(said, ast.Expr) else None
    named = tree.dotted(call.func) if isinstance(call, ast.Call) else ""
    return named == "print" or named.startswith(("logging.", "logger.", "log."))


def _in(source: Source, use: ast.Name, changes: list[ast.Name]) -> bool:
    """`if k in own` inside of `own.update({...})`."""
    return any(tree.statement(source, use) is tree.statement(source, one) for one in changes)
