"""The rule of module-in-no-optimizer."""

import ast
from collections.abc import Iterator

from torchlore.check import api, flow, follow, frameworks, modules, scopes, tensors, tree, uses, values
from torchlore.check.source import Hit, Source

_HARMLESS = frozenset({"to", "cuda", "train", "zero_grad", "float", "double"})


def find(source: Source) -> Iterator[Hit]:
    owners = _with_parameters(source) if flow.may_train(source) else set()
    for assign in source.all(ast.Assign) if owners else []:
        name, made = assign.targets[0], _constructor(assign.value)
        if not isinstance(name, ast.Name) or not made or tree.dotted(made.func) not in owners:
            continue
        home = tree.function(source, assign)
        optimizers = [one for one in flow.events_of(source, home) if one.what == "optimizer" and one.source is source]
        if optimizers and not frameworks.owned(source, assign) and _only_called(source, assign, name):
            at = optimizers[-1].at
            message = f"`{name.id}` has parameters that no optimizer gets, so they never change: add `*{name.id}.parameters()`"
            yield source.hit(at, message)
    if flow.may_train(source):
        yield from (*_lost_groups(source), *_same_twice(source))


def _lost_groups(source: Source) -> Iterator[Hit]:
    """`params = {...}; params["params"] = [...]`, and nobody reads it afterwards."""
    for store in source.all(ast.Subscript):
        name = store.value
        if (
            not isinstance(store.ctx, ast.Store)
            or tree.literal(store.slice) != "params"
            or not isinstance(name, ast.Name)
        ):
            continue
        bound = scopes.reaching(source, name)
        if len(bound) != 1 or not isinstance(bound[0].value, ast.Dict) or bound[0].how != "assign":
            continue
        reads = (one for one in uses.names(source, name.id) if one is not name and isinstance(one.ctx, ast.Load))
        if not any(_reads(source, one) and bound[0] in scopes.reaching(source, one) for one in reads):
            told = f"the parameters of this group reach no optimizer, so they never change: append `{name.id}` to the groups"
            yield source.hit(store, told)


def _reads(source: Source, name: ast.Name) -> bool:
    up = source.parents[name]
    return not (isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Store))


def _same_twice(source: Source) -> Iterator[Hit]:
    """Two optimizers for one network, while another network that is trained beside it has none."""
    plain: dict[tuple[tree.FunctionNode | None, str], list[ast.Call]] = {}
    for call, full in uses.calls_under(source, "torch.optim."):
        given = call.args[0] if call.args and api.kind_of_call(full) == "optimizer" else None
        whole = isinstance(given, ast.Call) and follow.method(given) == "parameters"
        if whole and isinstance(given, ast.Call) and isinstance(source.parents[call], ast.Assign):
            home = tree.function(source, call)
            plain.setdefault((home, source.code(tree.receiver(given))), []).append(call)
    for (home, name), calls in plain.items():
        targets = {source.code(up.targets[0]) for one in calls if isinstance(up := source.parents[one], ast.Assign)}
        branches = any(follow.exclusive(source, one, other) for one in calls for other in calls if one is not other)
        if len(calls) < 2 or len(targets) < 2 or branches:
            continue
        for other in _untrained(source, home, name):
            told = f"two optimizers get `{name}`, and none gets `{other}`, which never changes: give this one `{other}.parameters()`"
            best = max(calls, key=lambda one: _alike(source.code(source.parents[one]), other))
            yield source.hit(best, told, severity="warning")  # two rates for one net may be meant
            break


def _alike(code: str, name: str) -> int:
    """How much of a network's name is in the name of an optimizer."""
    own = name.rpartition(".")[2]
    return max((length for length in range(len(own) + 1) if own[:length] in code.partition("=")[0]), default=0)


def _untrained(source: Source, home: tree.FunctionNode | None, name: str) -> Iterator[str]:
    """Networks made in the same function that no `.parameters()` is asked of, and that are called."""
    for assign in source.all(ast.Assign):
        code = source.code(assign.targets[0])
        made = isinstance(assign.value, ast.Call) and source.name(assign.value.func) != "copy.deepcopy"
        if tree.function(source, assign) is not home or code == name or not made or f"{code}.parameters" in source.text:
            continue
        holders = (one for one in source.all(ast.Assign) if source.code(one.targets[0]) == name)
        if any(source.code(arg) == code for one in holders for arg in _given(one.value)):
            continue  # a part of the net that is trained
        module = values.sure(source, assign.value, "module") and not values.sure(source, assign.value, "loss")
        kinds = [one for one in source.values(assign.value) if modules.has_parameters(one)]
        if module and kinds and f"{code}(" in source.text and f"{code}.requires_grad" not in source.text:
            yield code


def _given(call: ast.expr) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)] if isinstance(call, ast.Call) else []


def _constructor(value: ast.expr) -> ast.Call | None:
    """`Center(3)`, also in `Center(3).to(device)`."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _HARMLESS:
        value = value.func.value
    return value if isinstance(value, ast.Call) else None


def _with_parameters(source: Source) -> set[str]:
    """Names of this file's classes that make an `nn.Parameter` that is to be trained."""
    found = set()
    for call in source.calls("torch.nn.Parameter"):
        home = tree.function(source, call)
        cls = tree.method_class(source, home) if home is not None else None
        if cls is not None and tree.literal(tree.argument(call, 1, "requires_grad")) is not False:
            found.add(cls.name)
    return found


def _trains(source: Source, call: ast.Call) -> bool:
    """Whether the call stands in a loop that runs a backward pass, and its result keeps its graph."""
    loops = {loop.node for loop in flow.backward_loops(source)}
    cut = isinstance(up := source.parents[call], ast.Attribute) and up.attr in {"detach", "item", "data"}
    return (
        not cut and not tensors.no_grad_around(source, call) and any(one in loops for one in tree.loops(source, call))
    )


def _only_called(source: Source, assign: ast.Assign, name: ast.Name) -> bool:
    """Whether every use of the name is a call of it where something is trained, or changes nothing about it."""
    uses = [one for one in source.all(ast.Name) if one.id == name.id and isinstance(one.ctx, ast.Load)]
    called, home = False, tree.function(source, assign)
    for use in uses:
        bound = scopes.reaching(source, use)
        if bound and all(tree.function(source, one.node) is not home for one in bound):
            continue  # another function's variable of the same name
        if all(one.node is not name for one in bound):
            return False
        up = source.parents[use]
        if isinstance(up, ast.Call) and up.func is use:
            called |= _trains(source, up)
        elif not (
            isinstance(up, ast.Attribute) and up.attr in _HARMLESS and not isinstance(source.parents[up], ast.Assign)
        ):
            return False
    frozen = any(up for up in tree.ancestors(source, assign) if isinstance(up, ast.ClassDef))
    return called and not frozen
