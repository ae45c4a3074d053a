"""The rule of optimizer-sees-no-gradient."""

import ast
from collections.abc import Iterator

from torchlore.check import api, classes, flow, follow, frameworks, scopes, terms, tree, uses, values
from torchlore.check.events import Event, of_call
from torchlore.check.identity import Identity, identity
from torchlore.check.project import enclosing_class
from torchlore.check.source import Hit, Source

_CUTS = frozenset({"detach", "data", "item", "argmax", "numpy", "tolist"})
_HARMLESS = frozenset(
    {
        "parameters",
        "named_parameters",
        "state_dict",
        "load_state_dict",
        "train",
        "eval",
        "to",
        "cuda",
        "zero_grad",
        "apply",
    }
)

WORDS = ("parameters", api.OPTIMIZERS)


def find(source: Source) -> Iterator[Hit]:
    made = {event.owner: event for event in _optimizers(source)} if flow.may_train(source) else {}
    told: set[object] = set()
    for turn in flow.rounds(source) if made else []:
        for step in turn:
            built = made.get(step.owner) if step.what == "step" and step.owner is not None else None
            net = _only_net(source, built) if built is not None and built.source is source else None
            if net is None or built is None or frameworks.owned(source, step.at):
                continue
            other = _other(source, turn, identity(source, net))
            if other is not None and _idle(source, net) and not _shares(source, net, other):
                told.add(step.owner)
                name = source.code(other.expr) if other.expr is not None else "another network"
                message = f"the loss comes from `{name}`, and this optimizer holds `{source.code(net)}`, which gets no gradient: give it `{name}.parameters()`"
                yield source.hit(built.node, message, severity="warning")  # a wrapper may hold its parts
    yield from _never_thawed(source, made) if made and "requires_grad" in source.text else ()
    yield from _cut_off(source, {owner: event for owner, event in made.items() if owner not in told}) if made else ()


def _never_thawed(source: Source, made: dict[Identity | None, Event]) -> Iterator[Hit]:
    """`set_requires_grad(D, False)` in every step, nothing that takes it back, and an optimizer of `D` that steps there."""
    switches = list(_switches(source))
    for node, net, on in switches:
        owner = identity(source, net) if on is False else None
        if owner is None or any(other is not False for _, one, other in switches if identity(source, one) == owner):
            continue
        home = tree.function(source, node)
        events = flow.events_of(source, home)
        steps = [one for one in events if one.what == "step" and one.source is source and not one.via]
        turns = home is not None or bool(tree.loops(source, node))
        for step in steps if turns and not frameworks.owned(source, node) else ():
            built = made.get(step.owner)
            given = _given(built) if built is not None and built.source is source else None
            together = home is not None or tree.loops(source, step.node)[:1] == tree.loops(source, node)[-1:]
            if built is not None and _trained_before(source, net, step.node, node, built):
                continue
            if given is not None and identity(source, given) == owner and together and not step.conditions:
                told = f"nothing takes this back, so `{source.code(net)}` gets no gradient and its optimizer steps along nothing"
                yield source.hit(
                    node, f"{told}: set it to True before the loss of `{source.code(net)}`", severity="warning"
                )
                return


def _trained_before(source: Source, net: ast.expr, step: ast.AST, switch: ast.AST, built: Event) -> bool:
    """A teacher that is made here, or given with its optimizer made here, trained in a loop further up, and frozen then."""
    loops, home = tree.loops(source, switch), tree.function(source, switch)
    apart = not any(one in loops for one in tree.loops(source, step))
    made = scopes.reaching(source, net) if isinstance(net, ast.Name) else []
    fresh = home is not None and tree.function(source, built.node) is home
    here = any(
        not tree.loops(source, one.statement) and (one.how == "assign" or (fresh and one.how == "parameter"))
        for one in made
    )
    return apart and here and step.lineno < switch.lineno  # type: ignore[attr-defined]  # both have places


def _switches(source: Source) -> Iterator[tuple[ast.AST, ast.expr, object]]:
    """`net.requires_grad_(x)`, `for p in net.parameters(): p.requires_grad = x`, `switch(net, x)` that does so, and x."""
    for call in source.methods("requires_grad_"):
        yield call, _whole(source, _plain(tree.receiver(call))), tree.literal(call.args[0]) if call.args else True
    for store in uses.attributes(source, "requires_grad"):
        held = source.parents[store]
        if not isinstance(held, ast.Assign) or not isinstance(store.ctx, ast.Store):
            continue
        home = tree.function(source, store)
        told = home is not None and tree.dotted(held.value) in {one.arg for one in tree.parameters(home)}
        if not told or home is None:
            yield held, _whole(source, store.value), tree.literal(held.value)
            continue
        for call in source.all(ast.Call):
            if tree.dotted(call.func).rpartition(".")[2] == home.name and len(call.args) == 2:
                nets = call.args[0].elts if isinstance(call.args[0], ast.List | ast.Tuple) else [call.args[0]]
                yield from ((call, one, tree.literal(call.args[1])) for one in nets)


def _plain(net: ast.expr) -> ast.expr:
    """`net` of `net.eval()`."""
    while isinstance(net, ast.Call) and follow.method(net) in ("eval", "train"):
        net = tree.receiver(net)
    return net


def _whole(source: Source, part: ast.expr) -> ast.expr:
    """`net` of the `p` in `for p in net.parameters()`."""
    loop = next(iter(tree.loops(source, part)), None)
    over = loop.iter if isinstance(loop, ast.For) and tree.dotted(loop.target) == tree.dotted(part) else None
    return tree.receiver(over) if isinstance(over, ast.Call) and follow.method(over) == "parameters" else part


def _cut_off(source: Source, made: dict[object, Event]) -> Iterator[Hit]:
    """Every backward pass since `zero_grad` misses the optimizer's network, which was called without its graph."""
    seen: set[ast.AST] = set()
    for turn in flow.rounds(source):
        for number, step in enumerate(turn):
            built = made.get(step.owner) if step.what == "step" and step.owner is not None else None
            given = _given(built) if built is not None and built.source is source else None
            net = identity(source, given) if given is not None else None
            if net is None or given is None or frameworks.owned(source, step.at) or step.detail:
                continue
            zeros = [i for i, one in enumerate(turn[:number]) if one.what == "zero_grad" and one.owner == step.owner]
            since = turn[zeros[-1] + 1 : number] if zeros else []
            passes = [one for one in since if one.what == "backward"]
            calls = [
                one for one in turn[:number] if one.what == "forward" and one.owner == net and one.source is source
            ]
            lost = [one for one in calls if one.no_grad or _cut(one)]
            if (
                passes
                and lost
                and not any(_may_reach(source, one, net) for one in passes)
                and lost[-1].node not in seen
            ):
                seen.add(lost[-1].node)
                code = source.code(given)
                told = f"the loss that this optimizer's step follows gets no gradient to `{code}`, whose output is cut from its graph here: call it with its graph"
                yield source.hit(lost[-1].node, told)


def _may_reach(source: Source, backward: Event, net: Identity) -> bool:
    """Whether the loss may depend on the network: it does, or something in it cannot be seen through."""
    if backward.expr is None or backward.source is not source:
        return True
    found = list(terms.reached(source, backward.expr))
    nets = [one for one in found if isinstance(one.func, ast.Name | ast.Attribute) and _is_net(source, one)]
    hidden = [one for one in found if one not in nets and _unknown(source, one)]
    return bool(hidden) or not nets or any(_maybe_related(source, one, net) for one in nets)


def _is_net(source: Source, call: ast.Call) -> bool:
    return values.sure(source, call.func, "module", weak=True) and not values.maybe(source, call.func, "loss")


def _maybe_related(source: Source, call: ast.Call, net: Identity) -> bool:
    own = identity(source, call.func)
    return own is None or _related(own, net)


def _unknown(source: Source, call: ast.Call) -> bool:
    """A function of the project or of nobody knows where, or a method of a network."""
    if source.name(call.func).startswith("torch.") or values.maybe(source, call.func, "loss"):
        return False
    if flow.called(source, call) is not None:
        return values.attached(source, call) is not False  # what it returns may be made without gradients
    if not isinstance(call.func, ast.Attribute):
        return True
    return values.maybe(source, call.func.value, "module", "object", weak=True)


def _given(built: Event) -> ast.expr | None:
    given = tree.argument(built.node, 0, "params") if isinstance(built.node, ast.Call) else None
    return tree.receiver(given) if isinstance(given, ast.Call) and follow.method(given) == "parameters" else None


def _optimizers(source: Source) -> Iterator[Event]:
    """Optimizers that one assignment makes; one that is made twice may hold either."""
    found: dict[object, list[Event]] = {}
    for call, _ in uses.calls_under(source, "torch.optim."):
        event = of_call(source, call)
        if event is not None and event.what == "optimizer" and event.owner is not None:
            found.setdefault(event.owner, []).append(event)
    return (events[0] for events in found.values() if len(events) == 1)


def _only_net(source: Source, built: Event) -> ast.expr | None:
    """`net` of `Adam(net.parameters(), ...)`."""
    given = tree.argument(built.node, 0, "params") if isinstance(built.node, ast.Call) else None
    if not isinstance(given, ast.Call) or follow.method(given) != "parameters":
        return None
    net = tree.receiver(given)
    made = source.values(net)
    up = source.parents.get(made[0].node) if len(made) == 1 and isinstance(made[0].node, ast.Call) else None
    here = isinstance(up, ast.Assign) and up.value is made[0].node and tree.dotted(up.targets[0]) == tree.dotted(net)
    return net if here and identity(source, net) is not None and not _holds_parts(source, made[0].node) else None


def _holds_parts(source: Source, made: ast.AST | None) -> bool:
    """A network that is put together from others with names: their gradients are its own."""
    inner = (one for one in ast.walk(made or ast.Pass()) if isinstance(one, ast.Name | ast.Attribute))
    return any(values.maybe(source, one, "module") for one in inner if one is not getattr(made, "func", None))


def _other(source: Source, turn: list[Event], net: Identity | None) -> Event | None:
    """The network through which the gradient of this turn flows, where it surely is another one."""
    calls = [one for one in turn if one.what == "forward" and not one.no_grad]
    if any(_in_module(one) for one in calls):
        return None  # layers of a network that is trained through a method of its own
    flowing = [one for one in calls if not _cut(one)]
    if (
        net is None
        or not flowing
        or any(one.owner is None or one.detail or _related(one.owner, net) for one in flowing)
    ):
        return None
    same = [one for one in flowing if one.source is source]
    return same[0] if same else None


def _shares(source: Source, net: ast.expr, other: Event) -> bool:
    """`held = nn.ModuleList(parts)` and `net = Parallel(parts)`: both are made of the same parts."""
    mine, its = follow.binding(source, net), follow.binding(source, other.expr) if other.expr is not None else None
    holds = isinstance(mine, ast.Call) and source.name(mine.func) in ("torch.nn.ModuleList", "torch.nn.Sequential")
    parts = {tree.dotted(one) for one in mine.args} if holds and isinstance(mine, ast.Call) else set()
    used = {tree.dotted(one) for one in ast.walk(its) if isinstance(one, ast.Name)} if its is not None else set()
    return bool(parts & used)


def _in_module(event: Event) -> bool:
    cls = enclosing_class(event.source, event.node)
    return cls is not None and classes.is_module(cls)


def _related(one: Identity, other: Identity) -> bool:
    length = min(len(one), len(other))
    return one[:length] == other[:length] or (one[0] == other[0] and (len(one) == 1 or len(other) == 1))


def _cut(event: Event) -> bool:
    """`net(x).max(1)[0].detach()`: no gradient comes back from here."""
    node, source = event.node, event.source
    while isinstance(up := source.parents.get(node), ast.Attribute | ast.Subscript | ast.Call):
        if isinstance(up, ast.Attribute) and up.attr in _CUTS:
            return True
        if (isinstance(up, ast.Call) and up.func is not node) or (
            isinstance(up, ast.Subscript) and up.value is not node
        ):
            break
        node = up
    return False


def _idle(source: Source, net: ast.expr) -> bool:
    """Whether every use of the network in the file is seen: calls whose result is cut, and what gives no gradient."""
    name = tree.dotted(net)
    same = uses.names(source, name) if isinstance(net, ast.Name) else uses.attributes(source, name.rpartition(".")[2])
    for use in same:
        if not isinstance(use.ctx, ast.Load) or use is net:
            continue
        if (
            isinstance(use, ast.Name)
            and isinstance(net, ast.Name)
            and scopes.reaching(source, use) != scopes.reaching(source, net)
        ):
            return False
        up = source.parents[use]
        if isinstance(up, ast.Attribute) and up.attr in _HARMLESS:
            continue
        event = of_call(source, up) if isinstance(up, ast.Call) and up.func is use else None
        if (
            event is None
            or event.what != "forward"
            or not (_cut(event) or flow.place(source, up)[2] & {"torch.no_grad", "torch.inference_mode"})
        ):
            return False
    return True
