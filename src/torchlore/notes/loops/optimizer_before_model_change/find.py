"""The rule of optimizer-before-model-change."""

import ast
from collections.abc import Iterator

from torchlore.check import api, calls, classes, flow, follow, modules, project, scopes, trained, tree, values
from torchlore.check.events import Event, of_call
from torchlore.check.identity import Identity, identity
from torchlore.check.project import as_class, enclosing_class
from torchlore.check.source import Hit, Source

_SPLITS = ("torch.nn.utils.weight_norm", "torch.nn.utils.parametrizations.weight_norm")
_SAME = {"to", "cuda", "cpu", "half", "float", "double", "bfloat16", "eval", "train", "requires_grad_"}

WORDS = ("parameters|named_parameters",)


def find(source: Source) -> Iterator[Hit]:
    asked = [*source.methods("parameters", "named_parameters")]
    given = [call for call in asked if _to_optimizer(source, call)]
    whole = [call for call in given if follow.method(call) == "parameters"]
    yield from (*_layers_after(source, whole), *_renewed(source, whole), *_in_subclass(source, whole)) if whole else ()
    if any(source.methods("add_param_group")):
        return
    yield from _adapted(source, whole) if "get_peft_model" in source.text else ()
    yield from _unfrozen_elsewhere(source, given)
    homes = dict.fromkeys(tree.function(source, call) for call in given)
    outer = _asks_for_one(source, [call for call in asked if trained.reaches_optimizer(source, call)])
    for function in dict.fromkeys([*homes, *outer]):
        events = flow.events_of(source, function)
        for index, event in enumerate(events):
            if event.what == "optimizer" and event.source is source and function in outer and len(event.via) in (1, 2):
                yield from _changed(source, event, events[index + 1 :])
            if event.what == "optimizer" and event.source is source and not event.via:
                yield from _changed(source, event, events[index + 1 :])
                yield from _unfrozen(source, event, events[index + 1 :])
                yield from _another(source, event, events[index + 1 :])
                yield from _grown(source, event, events[index + 1 :])
                yield from _copied(source, event, events)


def _asks_for_one(source: Source, given: list[ast.Call]) -> list[tree.FunctionNode | None]:
    """The functions that call one which builds an optimizer: `optimizer = make_optimizer(model)`."""
    makers = dict.fromkeys(tree.function(source, call) for call in given)
    named = [one for one in makers if one is not None and one.name != "__init__"]
    sites = [site for one in named for site in calls.callers(project.as_function(source, one))]
    asking = [tree.function(source, call) for at, call, _ in sites if at is source]
    inside = [one for one in (*makers, *asking) if one is not None and one.name == "__init__"]
    owners = [enclosing_class(source, one) for one in inside]
    made = [site for one in owners if one is not None for site in calls.constructed(one)]
    return asking + [tree.function(source, call) for at, call in made if at is source]


def _in_constructor(source: Source, built: Event) -> bool:
    """`trainer = Trainer(net)`, whose `__init__` builds the optimizer, and another method of it replaces a layer."""
    return any(one.node.name == "__init__" and one.source is source for one in built.via)


def _adapted(source: Source, given: list[ast.Call]) -> Iterator[Hit]:
    """`get_peft_model(model, config)` below the optimizer: it freezes what the optimizer holds, and adds what it does not."""
    for call in source.calls("peft.get_peft_model"):
        net, home = tree.argument(call, 0, "model"), tree.function(source, call)
        name = tree.dotted(net) if net is not None else ""
        here = [one for one in given if tree.function(source, one) is home and name]
        mine = [one for one in here if tree.dotted(tree.receiver(one)) == name]
        if mine and not any(one.lineno > call.lineno for one in here):
            told = (
                f"the optimizer of line {mine[0].lineno} holds the weights that this freezes, and none of the adapter's"
            )
            yield source.hit(call, f"{told}: build the optimizer behind it")


def _layers_after(source: Source, given: list[ast.Call]) -> Iterator[Hit]:
    """`Adam(self.parameters())` in `__init__`, before the last layers are made."""
    for call in given:
        home, cls = tree.function(source, call), enclosing_class(source, call)
        whole = tree.dotted(tree.receiver(call)) == "self" and home is not None and home.name == "__init__"
        if cls is None or not whole or not classes.is_module(cls):
            continue
        for name, found in classes.own_attributes(cls).items():
            later = len(found) == 1 and found[0].method == "__init__" and _place(found[0].node) > call.lineno
            made = source.values(found[0].value) if later and isinstance(found[0].value, ast.Call) else ()
            if made and all(_holds_weights(one) for one in made) and not tree.conditions(source, call):
                told = f"`self.{name}` is made on line {_place(found[0].node)}, after this optimizer took the parameters there were: build the optimizer last"
                yield source.hit(call, told)
                break


def _renewed(source: Source, given: list[ast.Call]) -> Iterator[Hit]:
    """`self.net = Net()` in a method that runs after `self.opt = Adam(self.net.parameters())` of `__init__`."""
    for call in given:
        home, owner, net = tree.function(source, call), tree.class_of(source, call), tree.receiver(call)
        held = tree.statement(source, call)
        opt = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
        name = tree.dotted(net).removeprefix("self.") if tree.dotted(net).startswith("self.") else ""
        if not name or owner is None or home is None or home.name != "__init__" or not opt.startswith("self."):
            continue
        made = tree.under(source, owner, ast.Assign)
        if "." in name or sum(tree.dotted(one.targets[0]) == opt for one in made) > 1:
            continue
        for again in made:
            anew = tree.dotted(again.targets[0]) == f"self.{name}" and isinstance(again.value, ast.Call)
            wraps = any(
                one.attr == name and one is not again.targets[0] for one in tree.under(source, again, ast.Attribute)
            )
            if anew and not wraps and values.sure(source, again.value, "module") and _runs_later(source, again, call):
                told = f"`self.{name}` is another model from here on, and `{opt}` of line {held.lineno} keeps the old one's parameters: "
                yield source.hit(again, told + "build the optimizer anew too")


def _in_subclass(source: Source, given: list[ast.Call]) -> Iterator[Hit]:
    """`self.model[2] = nn.Linear(...)` behind the `super().__init__()` that has built `self.optimizer`."""
    for call in source.calls("super"):
        up = source.parents[source.parents[call]]
        home, owner = tree.function(source, call), enclosing_class(source, call)
        if owner is None or home is None or home.name != "__init__" or follow.method(up) != "__init__":
            continue
        ways = [classes.methods(one).get("__init__") for one in source.project.bases(owner)[0][1:]]
        first = next((one for one in ways if one is not None), None)
        for opt, net in _built_there(source, given, first) if first is not None else ():
            if any(tree.dotted(one) == opt for one in tree.under(source, owner.node, ast.Attribute)):
                continue  # built anew, or given another group
            for put in (one for one in home.body if isinstance(one, ast.Assign) and one.lineno > call.lineno):
                target = put.targets[0].value if isinstance(put.targets[0], ast.Subscript) else put.targets[0]
                into = tree.dotted(target) == net or tree.dotted(target).startswith(f"{net}.")
                made = source.values(put.value) if into and isinstance(put.value, ast.Call) else ()
                if made and all(_holds_weights(one) and modules.has_parameters(one) for one in made):
                    told = f"`super().__init__` has built `{opt}` with the parameters of before, so what `{source.code(put.targets[0])}` is from here on never learns"
                    yield source.hit(put, f"{told}: build the optimizer anew behind this")


def _built_there(source: Source, given: list[ast.Call], home: tree.FunctionNode) -> Iterator[tuple[str, str]]:
    """`self.opt` and `self.net` of each `self.opt = Adam(self.net.parameters())` in a function of the file."""
    for call in given:
        held, net = tree.statement(source, call), tree.dotted(tree.receiver(call))
        opt = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
        if tree.function(source, call) is home and net.startswith("self.") and opt.startswith("self."):
            yield opt, net


def _runs_later(source: Source, again: ast.Assign, built: ast.Call) -> bool:
    """Whether a method runs behind the constructor's optimizer: it is called there, or later by the object's name."""
    home, first = tree.function(source, again), tree.function(source, built)
    if home is first or home is None:
        return again.lineno > built.lineno and not tree.conditions(source, again)
    sites = calls.callers(project.as_function(source, home))
    inside = [one for where, one, _ in sites if where is source and tree.function(source, one) is first]
    return bool(sites) and all(one.lineno > built.lineno for one in inside)


def _holds_weights(value: values.Value) -> bool:
    return api.is_kind(value.kind, "module") and value.kind != "loss" and not modules.parameterless(value)


def _to_optimizer(source: Source, node: ast.AST) -> bool:
    calls = (up for up in tree.ancestors(source, node) if isinstance(up, ast.Call))
    return any((event := of_call(source, call)) is not None and event.what == "optimizer" for call in calls)


def _changed(source: Source, built: Event, later: tuple[Event, ...]) -> Iterator[Hit]:
    again = [event for event in later if event.what == "optimizer" and (not built.via or event.at is not built.at)]
    for model in _models(source, built.node):
        if any(event.owner == built.owner or model in _models(event.source, event.node) for event in again):
            continue  # built anew
        for event in later:
            replaced = (
                event.what == "replace"
                and _part_of(event.owner, model)
                and not _empty(event)
                and not _around_the_old(event)
            )
            if replaced and not _rebound(source, built, event) and not _trained(later, event):
                name = event.source.code(event.expr) if event.expr is not None else "the layer"
                told = tree.literal(event.node.args[1]) if isinstance(event.node, ast.Call) else None
                name = f"{name}.{told}" if isinstance(told, str) else name
                what = "a layer of " if told is tree.UNKNOWN else ""
                message = f"{what}`{name}` is replaced on line {_line(event)}, after this optimizer took the old parameters: build it after that"
                if event.source is source and _in_constructor(source, built):
                    late = f"the optimizer of line {built.node.lineno} took the old parameters: build it after this"  # type: ignore[attr-defined]  # a call
                    yield source.hit(event.node, f"{what}`{name}` is replaced, and {late}")
                    break
                yield source.hit(built.at if built.via else built.node, message)
                break


def _trained(later: tuple[Event, ...], replaced: Event) -> bool:
    """Whether all steps are made before the part is replaced: what comes then is a test."""
    steps = [index for index, event in enumerate(later) if event.what == "step"]
    return bool(steps) and steps[-1] < later.index(replaced)


def _another(source: Source, built: Event, later: tuple[Event, ...]) -> Iterator[Hit]:
    """The name is given another model before the loop that calls it, and the optimizer keeps the parameters of the first."""
    steps = [event for event in later if event.what == "step" and flow.same_object(event, built)]
    if not steps or any(event.what == "optimizer" and event.owner in (built.owner, None) for event in later):
        return
    given = [one for one in tree.under(source, built.node, ast.Name) if isinstance(source.parents[one], ast.Attribute)]
    for event in later:
        name = _called(source, event) if event.what == "forward" and not event.no_grad else None
        first = next((one for one in given if isinstance(name, ast.Name) and one.id == name.id), None)
        if first is None or not isinstance(name, ast.Name) or not any({*event.loops} & {*one.loops} for one in steps):
            continue  # in no loop that trains: a test
        old = scopes.reaching(source, first)
        new = [one for one in scopes.reaching(source, name) if one not in old]
        still = any(_place(one.at) > _place(new[0].statement) for one in steps) if new else False
        if old and still and all(_made_anew(source, one, built.node) for one in new):
            same = {_maker(one.value) for one in old} == {_maker(new[0].value)}
            at = new[0].statement if same else built.node
            where = _place(new[0].statement) if not same else _place(built.node)
            told = f"`{name.id}` is another model from here on, and the optimizer of line {where} keeps the old one's parameters: "
            if not same:
                told = f"`{name.id}` becomes another model on line {where}, and this optimizer keeps the old one's parameters: "
            yield source.hit(at, told + "build the optimizer after it")
            return


def _copied(source: Source, built: Event, events: tuple[Event, ...]) -> Iterator[Hit]:
    """`Adam(base.parameters())`, and what is trained is `copy.deepcopy(base)`."""
    if "deepcopy" not in source.text or sum(event.what == "optimizer" for event in events) != 1:
        return
    nets = [
        one
        for one in tree.under(source, built.node, ast.Name)
        if follow.method(source.parents[source.parents[one]]) == "parameters"
    ]
    steps = [event for event in events if event.what == "step" and flow.same_object(event, built)]
    runs = [
        one
        for one in events
        if one.what == "forward" and not one.no_grad and any({*one.loops} & {*step.loops} for step in steps)
    ]
    names = [one for one in (_called(source, event) for event in runs) if isinstance(one, ast.Name)]
    for name in names if len(names) == len(runs) and len(nets) == 1 else ():
        made = follow.binding(source, name)
        taken = (
            made.args[0]
            if isinstance(made, ast.Call) and source.name(made.func) == "copy.deepcopy" and made.args
            else None
        )
        if taken is None or tree.dotted(taken) != nets[0].id or any(one.id == nets[0].id for one in names):
            continue
        told = f"`{name.id}` is a copy with parameters of its own, and this optimizer has those of `{nets[0].id}`: give it `{name.id}.parameters()`"
        yield source.hit(built.node, told)
        return


def _called(source: Source, event: Event) -> ast.expr | None:
    """The net of a forward pass as this function names it: in a helper it is one of the arguments."""
    if not event.via:
        return event.expr if event.source is source else None
    given = [*event.at.args, *(one.value for one in event.at.keywords)] if isinstance(event.at, ast.Call) else []
    return next((one for one in given if isinstance(one, ast.Name) and identity(source, one) == event.owner), None)


def _grown(source: Source, built: Event, later: tuple[Event, ...]) -> Iterator[Hit]:
    """`net.grow()`, a method that makes new layers, in the function that has built the optimizer and steps on."""
    home, nets = tree.function(source, built.node), _models(source, built.node)
    made = home is not None and home.name == "__init__"  # all steps come later, in other methods
    if any(event.what == "optimizer" for event in later) or not (made or any(one.what == "step" for one in later)):
        return
    last = max((_place(event.at) for event in later if event.what == "step"), default=0)
    for call in source.all(ast.Call):
        late = call.lineno > getattr(built.node, "end_lineno", 0) and tree.function(source, call) is home
        if not late or not (made or tree.loops(source, call) or call.lineno < last):
            continue
        method = flow.called(source, call)
        if method is None:
            continue
        if any(identity(source, one) in nets for one in call.args) and _sets_layers(method):
            told = f"`{source.code(call)}` puts layers in that the optimizer of line {_line(built)} does not hold, so they never learn: build it after that"
            yield source.hit(built.node, told)
            return
        own = isinstance(call.func, ast.Attribute) and identity(source, call.func.value) in nets
        if not own or not _of_module(method):
            continue
        anew = [one for one in tree.body_nodes(method.node) if _new_parameter(method.source, one)]
        if anew and method.source is source:
            told = f"the optimizer of line {_line(built)} keeps the parameter that this replaces: write into it, `with torch.no_grad(): weight.copy_(...)`"
            yield source.hit(anew[0], told)
            return
        if any(_new_layer(method.source, one) for one in tree.body_nodes(method.node)):
            told = f"`{source.code(call)}` makes layers that the optimizer of line {_line(built)} does not hold, so they never learn: call `add_param_group`"
            yield source.hit(call, told)
            return


def _of_module(method: project.Function) -> bool:
    """A method of a module that is there already."""
    made = method.owner is not None and method.node.name != "__init__"
    return made and method.owner is not None and classes.is_module(as_class(method.source, method.owner))


def _sets_layers(inner: project.Function) -> bool:
    """`inject(net)`, a function whose `setattr(part, name, Adapter(...))` makes layers with weights, of the net it is given."""
    puts = [one for one in tree.under(inner.source, inner.node, ast.Call) if inner.source.name(one.func) == "setattr"]
    made = [value for one in puts if len(one.args) == 3 for value in inner.source.values(one.args[2])]
    return bool(made) and all(_holds_weights(one) and modules.has_parameters(one) for one in made)


def _new_parameter(source: Source, node: ast.AST) -> bool:
    """`self.emb.weight = nn.Parameter(...)`, not in a branch."""
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    made = node.value if isinstance(node, ast.Assign) else None
    own = target is not None and tree.dotted(target).startswith("self.") and not tree.conditions(source, node)
    return own and isinstance(made, ast.Call) and source.name(made.func) == "torch.nn.Parameter"


def _new_layer(source: Source, node: ast.AST) -> bool:
    """`self.blocks.append(Block())`, `self.top = nn.Linear(...)`."""
    if isinstance(node, ast.Call) and source.name(node.func) in _SPLITS and node.args:
        return tree.dotted(node.args[0]).startswith("self")  # makes two new parameters of one
    if isinstance(node, ast.Assign) and tree.dotted(node.targets[0]).startswith("self."):
        made: ast.expr | None = node.value
    else:
        grows = isinstance(node, ast.Call) and follow.method(node) in ("append", "add_module", "insert") and node.args
        own = grows and isinstance(node, ast.Call) and tree.dotted(tree.receiver(node)).startswith("self")
        made = node.args[-1] if own and isinstance(node, ast.Call) else None
    found = source.values(made) if isinstance(made, ast.Call) else ()
    return bool(found) and all(_holds_weights(one) and modules.has_parameters(one) for one in found)


def _made_anew(source: Source, one: scopes.Binding, built: ast.AST) -> bool:
    """`model = Net()` or `model = torch.load(path)` behind the optimizer, not `model = wrap(model)`."""
    value = one.value
    if one.how != "assign" or one.path or not isinstance(value, ast.Call) or _place(one.statement) <= _place(built):
        return False
    told = isinstance(one.node, ast.Name) and any(
        part.id == one.node.id for part in tree.under(source, value, ast.Name)
    )
    return not told and (values.sure(source, value, "module") or source.name(value.func) == "torch.load")


def _maker(value: ast.expr | None) -> str:
    return tree.dotted(value.func) if isinstance(value, ast.Call) else ""


def _place(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _rebound(source: Source, built: Event, event: Event) -> bool:
    """Whether the name stands for another model by then: one experiment after the other."""
    root = event.expr
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or event.source is not source or event.via or built.via:
        return False  # names of other functions
    before = [one for one in ast.walk(built.node) if isinstance(one, ast.Name) and one.id == root.id]
    now = scopes.reaching(source, root)
    return bool(before) and all(scopes.reaching(source, one) != now for one in before)


def _unfrozen(source: Source, built: Event, later: tuple[Event, ...]) -> Iterator[Hit]:
    """Layers that are switched on in the loop behind an optimizer that was given what was on before."""
    chosen = "requires_grad" in source.code(built.node) and not any(event.what == "optimizer" for event in later)
    home = tree.function(source, built.node)
    for call in source.all(ast.Call) if chosen else ():
        after = call.lineno > getattr(built.node, "end_lineno", 0) and tree.function(source, call) is home
        if after and tree.loops(source, call) and _switches_on(source, call) and not _off_later(source, call, built):
            told = f"what `{source.code(call)}` sets free is not in the optimizer of line {_line(built)}, which took what was free then: call `add_param_group`, or give it all parameters"
            yield source.hit(call, told)


def _off_later(source: Source, call: ast.Call, built: Event) -> bool:
    """`switch(net, False)` stands behind the optimizer as well, which took everything then."""
    way = source.code(call.func)
    off = [one for one in source.all(ast.Call) if source.code(one.func) == way and False in map(tree.literal, one.args)]
    return bool(off) and all(one.lineno > _line(built) for one in off)


def _unfrozen_elsewhere(source: Source, given: list[ast.Call]) -> Iterator[Hit]:
    """A function sets layers free in the middle of training, and the one optimizer took what was free when it was built."""
    chosen = [call for call in given if "requires_grad" in source.code(tree.statement(source, call))]
    if len(given) != 1 or not chosen:
        return
    built = tree.function(source, chosen[0])
    for home, at in _set_free(source):
        calls_of = calls.callers(project.as_function(source, home)) if home is not None and home is not built else []
        turns = [call for other, call, _ in calls_of if other is source and _in_training_loop(source, call, chosen[0])]
        if turns and home is not None and len(turns) == len(calls_of):
            told = f"what `{home.name}` sets free is not in the optimizer of line {chosen[0].lineno}, which took what was free then: call `add_param_group`, or give it all parameters"
            yield source.hit(at, told)


def _set_free(source: Source) -> Iterator[tuple[tree.FunctionNode | None, ast.AST]]:
    """`p.requires_grad = True` and `x.requires_grad_(True)`, with the function that does so."""
    for held in source.all(ast.Assign):
        target = held.targets[0]
        on = isinstance(target, ast.Attribute) and target.attr == "requires_grad" and tree.literal(held.value) is True
        if isinstance(target, ast.Attribute) and on and not _differentiated(source, target.value):
            yield tree.function(source, held), held
    for call in source.methods("requires_grad_"):
        if [tree.literal(one) for one in call.args] in ([], [True]) and tree.is_statement(source, call):
            yield tree.function(source, call), call


def _differentiated(source: Source, node: ast.expr) -> bool:
    """`autograd.grad(u, x, ...)` of a parameter of the function: points at which an equation is asked for its slopes."""
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    given = bool(bound) and all(one.how == "parameter" for one in bound)
    asked = source.calls("torch.autograd.grad") if given else ()
    return any(source.code(node) == source.code(one.args[1]) for one in asked if len(one.args) > 1)


def _in_training_loop(source: Source, call: ast.Call, built: ast.AST) -> bool:
    """Whether the call stands in a loop that trains, and the optimizer was built outside of it."""
    around = tree.loops(source, call)
    trains = {loop.node for loop in flow.backward_loops(source)}
    return any(one in trains and not tree.inside(source, built, one) for one in around)


def _switches_on(source: Source, call: ast.Call) -> bool:
    """`net.body.requires_grad_(True)`, or a function of the project that does so with a True it is given."""
    given = [tree.literal(one) for one in [*call.args, *(keyword.value for keyword in call.keywords)]]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "requires_grad_":
        return given in ([], [True]) and values.maybe(source, tree.receiver(call), "module", "parameter", weak=False)
    inner = flow.called(source, call) if True in given else None
    names = {arg.arg for arg in tree.parameters(inner.node)} if inner is not None else set()
    sets = (one for one in tree.under(inner.source, inner.node, ast.Assign)) if inner is not None else ()
    return any(
        isinstance(one.targets[0], ast.Attribute)
        and one.targets[0].attr == "requires_grad"
        and tree.dotted(one.value) in names
        for one in sets
    )


def _models(source: Source, node: ast.AST) -> set[Identity]:
    """The models whose parameters an optimizer is given: whole models, not single layers of them."""
    given = [*node.args, *(keyword.value for keyword in node.keywords)] if isinstance(node, ast.Call) else []
    found: set[Identity] = set()
    for argument in given:
        named = [follow.followed(source, one) for one in tree.under(source, argument, ast.Name)]
        for part in (part for one in (argument, *named) for part in tree.under(source, one, ast.Call)):
            if follow.method(part) in ("parameters", "named_parameters"):
                known = identity(source, tree.receiver(part))
                found |= {known} if known else set()
    return found


def _part_of(owner: Identity | None, model: Identity) -> bool:
    return owner is not None and len(owner) > len(model) and owner[: len(model)] == model


def _empty(event: Event) -> bool:
    """Whether what comes in has no parameters: cutting a head off is no new head."""
    value = event.node.value if isinstance(event.node, ast.Assign) else None
    value = event.node.args[2] if isinstance(event.node, ast.Call) else value  # setattr(model, name, layer)
    return value is not None and all(modules.parameterless(one) for one in event.source.values(value))


def _around_the_old(event: Event) -> bool:
    """`setattr(net, name, torch.compile(layer))`, where `layer` is the old one: its parameters stay."""
    source, call = event.source, event.node
    if not isinstance(call, ast.Call) or len(call.args) != 3:
        return False
    model, name, new = call.args
    old = {f"{source.code(model)}.{tree.literal(name)}", f"getattr({source.code(model)}, {source.code(name)})"}
    for part in (one for one in ast.walk(new) if isinstance(one, ast.expr)):
        up = source.parents[part]
        if isinstance(up, ast.Attribute) and up.attr not in _SAME:
            continue  # `net.head.in_features`
        bound = scopes.reaching(source, part) if isinstance(part, ast.Name) else []
        loops = (one.statement for one in bound if one.how == "for" and isinstance(one.statement, ast.For))
        if source.code(part) in old or any("named_" in source.code(one.iter) for one in loops):
            return True
    return False


def _line(event: Event) -> int:
    return _place(event.node if not event.via else event.at)
