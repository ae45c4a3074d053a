"""The rule of module-in-no-optimizer."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import (
    api,
    classes,
    flow,
    follow,
    frameworks,
    freed,
    grouped,
    groups,
    identity,
    modules,
    scopes,
    tensors,
    trained,
    tree,
    uses,
    values,
)
from torchlore.check.calls import given, given_argument
from torchlore.check.events import Event, of_call
from torchlore.check.pattern import regex
from torchlore.check.project import Class, enclosing_class
from torchlore.check.source import Hit, Source

_ON_PURPOSE = ("load_state_dict", "torch.load", "pretrain", "requires_grad", "freeze", "frozen", "hub.load")
_ONLY_READ = regex(
    r"perc|vgg|lpips|feat|extract|teacher|target|ema\b|momentum|disc|critic|netd\b|\bd\b|reward|judge|oracle|fixed|frozen|clip|loss|"
    r"torchvision\.|timm\.|transformers\.|random",
    re.IGNORECASE,
)
_HARMLESS = frozenset({"to", "cuda", "train", "zero_grad", "float", "double"})

WORDS = ("parameters|Parameter|params|requires_grad|requires_grad_",)


def find(source: Source) -> Iterator[Hit]:
    yield from _listed_twice(source)
    owners = _with_parameters(source) if flow.may_train(source) else set()
    for name, value in trained.made_nets(source) if owners else ():
        made = _constructor(value)
        if not isinstance(name, ast.Name) or not made or tree.dotted(made.func) not in owners:
            continue
        home = tree.function(source, name)
        optimizers = [one for one in flow.events_of(source, home) if one.what == "optimizer" and one.source is source]
        if optimizers and not frameworks.owned(source, name) and _only_called(source, name):
            at = optimizers[-1].at
            message = f"`{name.id}` has parameters that no optimizer gets, so they never change: add `*{name.id}.parameters()`"
            yield source.hit(at, message)
    if flow.may_train(source):
        yield from (
            *_lost_groups(source),
            *_same_twice(source),
            *_twice_in_one(source),
            *_part_only(source),
            *_forgotten(source),
            *_thawed(source),
            *_loose(source),
            *_groups_only(source),
            *_of_a_trainer(source),
        )


def _of_a_trainer(source: Source) -> Iterator[Hit]:
    """`self.loss = Weighted()` in a class that is handed its optimizer: what it learns was not there when that was built."""
    for cls in classes.all_classes(source):
        init = classes.methods(cls).get("__init__")
        own = classes.own_attributes(cls) if init is not None and not classes.is_module(cls) else {}
        handed = [
            one for name, all_ in own.items() for one in all_ if "optim" in name and isinstance(one.value, ast.Name)
        ]
        for name, assigned in own.items() if len(handed) == 1 and handed[0].method == "__init__" else ():
            made = assigned[0].value if len(assigned) == 1 and assigned[0].method == "__init__" else None
            if not isinstance(made, ast.Call) or not re.search("loss|criterion", name, re.IGNORECASE):
                continue
            found = source.values(made)
            learns = len(found) == 1 and found[0].name.rpartition(".")[0] and not found[0].name.startswith("torch.")
            if not learns or not modules.has_parameters(found[0]) or frameworks.owned(source, made):
                continue
            if (
                f"{name}.parameters" in source.text
                or "add_param_group" in source.text
                or not _differentiates(source, cls, name)
            ):
                continue
            if _built_of_one_net(source, handed[0].value):
                told = f"`self.{name}` has parameters, and the optimizer that is handed in was built without them, so they never change"
                yield source.hit(
                    made, f'{told}: `add_param_group({{"params": self.{name}.parameters()}})`', severity="warning"
                )


def _differentiates(source: Source, cls: Class, name: str) -> bool:
    """Whether the class calls it and runs a backward pass."""
    called = {tree.dotted(one.func) for one in tree.under(source, cls.node, ast.Call)}
    return f"self.{name}" in called and any(one.endswith(".backward") for one in called)


def _built_of_one_net(source: Source, name: ast.expr | None) -> bool:
    """Whether all who call the constructor hand it an optimizer of `net.parameters()`, and add nothing to it."""
    bound = scopes.reaching(source, name) if isinstance(name, ast.Name) else []
    arg = bound[0].node if len(bound) == 1 and bound[0].how == "parameter" else None
    pairs = given(source, arg) if isinstance(arg, ast.arg) else []
    for where, one in pairs:
        built = where.values(one)[0].node if one is not None else None
        first = built.args[0] if isinstance(built, ast.Call) and built.args else None
        if (
            first is None
            or follow.method(first) != "parameters"
            or "add_param_group" in where.text
            or "loss.parameters" in where.text
        ):
            return False
    return bool(pairs)


def _lost_groups(source: Source) -> Iterator[Hit]:
    """`params = {...}; params["params"] = [...]`, or `params["params"].append(p)`, and nobody reads it afterwards."""
    lost: dict[ast.AST, ast.Subscript] = {}  # the dictionary, and the last line that fills it
    for use in source.all(ast.Subscript) if "params" in source.text else ():
        name = use.value
        if tree.literal(use.slice) != "params" or not isinstance(name, ast.Name) or _reads(source, name):
            continue
        bound = scopes.reaching(source, name)
        if len(bound) != 1 or not isinstance(bound[0].value, ast.Dict) or bound[0].how != "assign":
            continue
        reads = (one for one in uses.names(source, name.id) if one is not name and isinstance(one.ctx, ast.Load))
        if any(_reads(source, one) and bound[0] in scopes.reaching(source, one) for one in reads):
            continue
        lost[bound[0].node] = use
    for use in lost.values():
        code = source.code(use.value)
        yield source.hit(
            use, f"the parameters of this group reach no optimizer, so they never change: append `{code}` to the groups"
        )


def _reads(source: Source, name: ast.Name) -> bool:
    """Whether it is more than `group[...] = x` and `group[...].append(p)`."""
    up = source.parents[name]
    if not isinstance(up, ast.Subscript) or up.value is not name:
        return True
    over = source.parents[up]
    call = source.parents.get(over)
    added = isinstance(over, ast.Attribute) and over.attr in ("append", "extend")
    grows = added and isinstance(call, ast.Call) and tree.is_statement(source, call)
    return not (isinstance(up.ctx, ast.Store) or grows)


def _forgotten(source: Source) -> Iterator[Hit]:
    """A network that was made beside those an optimizer is given, is called in the same step, and is given to nobody."""
    made = [call for call, full in uses.calls_under(source, "torch.optim.") if api.kind_of_call(full) == "optimizer"]
    homes = [tree.home(source, call) for call in made]
    alone = {home: call for home, call in zip(homes, made, strict=True) if homes.count(home) == 1}
    given = {identity.identity(source, tree.receiver(one)) for one in source.methods("parameters")}
    for turn in flow.rounds(source) if alone else ():
        end = max((place for place, one in enumerate(turn) if one.what == "step"), default=0)
        last = max((place for place, one in enumerate(turn[:end]) if one.what == "backward"), default=0)
        begin = max((place for place, one in enumerate(turn[:last]) if one.what == "optimizer"), default=0)
        calls = [one for one in turn[begin:last] if one.what == "forward" and not one.no_grad and not _inner(one)]
        stepped = {one.owner for one in turn if one.what == "step"}
        trained = any(one.owner in given for one in calls)
        for event in calls if trained else ():
            net = event.expr if event.source is source else None
            if net is None or event.owner is None or event.owner in given or not _left_alone(source, net):
                continue
            own = tree.dotted(net).startswith("self.")
            call = alone.get(tree.home(source, net if own else source.values(net)[0].node))
            call = alone.get(tree.home(source, net)) if call is None and _of_factory(source, net) else call
            built = of_call(source, call) if call is not None and _all_whole(source, call) else None
            if call is None or built is None or built.owner not in stepped or frameworks.owned(source, call):
                continue
            code = source.code(net)
            told = f"`{code}` is called in the step and has parameters that this optimizer does not get, so they never change: add `*{code}.parameters()`"
            yield source.hit(call, told, severity="warning")
            return


def _inner(event: Event) -> bool:
    """A layer that its module calls: whoever holds the module holds the layer."""
    cls = enclosing_class(event.source, event.node)
    return cls is not None and classes.is_module(cls)


def _all_whole(source: Source, call: ast.Call) -> bool:
    """Whether the optimizer is given `net.parameters()` of networks that are named, and nothing else but single parameters."""
    first = follow.followed(source, call.args[0]) if call.args else None
    if isinstance(first, ast.Call) and source.name(first.func) == "list" and len(first.args) == 1:
        first = first.args[0]
    joined = isinstance(first, ast.BinOp) and [*_joined(first)]  # list(a.parameters()) + list(b.parameters())
    if joined:
        joined = [one for one in joined if not _single(source, one)]
        listed = [one.args[0] for one in joined if isinstance(one, ast.Call) and len(one.args) == 1]
        return len(listed) == len(joined) and all(follow.method(one) == "parameters" for one in listed)
    if isinstance(first, ast.Call) and source.name(first.func) == "itertools.chain":
        return bool(first.args) and all(follow.method(one) == "parameters" for one in first.args)
    if isinstance(first, ast.Call):
        return follow.method(first) == "parameters" and bool(tree.dotted(tree.receiver(first)))
    parts = first.elts if isinstance(first, ast.List) else []
    inner = [one.value for one in parts if isinstance(one, ast.Starred)]
    for group in (one for one in parts if isinstance(one, ast.Dict)):  # {"params": net.parameters(), "lr": 0.1}
        inner += [value for key, value in zip(group.keys, group.values, strict=True) if tree.literal(key) == "params"]
    return len(inner) == len(parts) > 0 and all(follow.method(one) == "parameters" for one in inner)


def _single(source: Source, node: ast.expr) -> bool:
    """`[self.scale]`, a list of parameters by their own names."""
    parts = node.elts if isinstance(node, ast.List) else []
    return bool(parts) and all(values.sure(source, one, "parameter") for one in parts)


def _joined(node: ast.expr) -> Iterator[ast.expr]:
    """The summands of `a + b + c`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from (*_joined(node.left), *_joined(node.right))
    else:
        yield node


def _left_alone(source: Source, net: ast.expr) -> bool:
    """Whether it is made here with fresh weights, beside the optimizer, and only ever called, moved or switched."""
    name, found = tree.dotted(net), source.values(net)
    up = source.parents.get(found[0].node) if len(found) == 1 and isinstance(found[0].node, ast.Call) else None
    if isinstance(up, ast.Tuple) and isinstance(over := source.parents[up], ast.Assign):
        target = over.targets[0]
        own = isinstance(target, ast.Tuple) and tree.dotted(target.elts[up.elts.index(found[0].node)]) == name  # type: ignore[arg-type]  # a call
    elif isinstance(up, ast.Call) and name.startswith("self."):
        own = found[0].node in up.args  # Trainer(Encoder(), Decoder()): nobody else has it
    else:
        own = isinstance(up, ast.Assign) and tree.dotted(up.targets[0]) == name
    own = (own or _of_factory(source, net)) and found[0].source is source
    learns = bool(found) and found[0].name.rpartition(".")[2] in _with_parameters(source)  # a loss with its own weights
    trained = own and api.is_kind(found[0].kind, "module") and (found[0].kind != "loss" or learns)
    label = f"{name} {found[0].name}" if found else "loss"
    outside = bool(_ONLY_READ.search(re.sub("loss", "", label, flags=re.IGNORECASE) if learns else label))
    if not trained or outside or not modules.has_parameters(found[0]):
        return False
    same = uses.names(source, name) if isinstance(net, ast.Name) else uses.attributes(source, name.rpartition(".")[2])
    for use in same:
        beside = source.parents[use]
        called = isinstance(beside, ast.Call) and beside.func is use
        moved = isinstance(beside, ast.Attribute) and beside.attr in (*_HARMLESS, "state_dict", "eval")
        known = called or moved or _looked_at(source, use) or _handed_on(source, use, name) or _given_back(source, use)
        if isinstance(use.ctx, ast.Load) and not known:
            return False
    return f"{name}.eval(" not in source.text or f"{name}.train(" in source.text


def _of_factory(source: Source, net: ast.expr) -> bool:
    """`encoder, decoder = build()` or `encoder = mlp(8, 2)`, a function of this file that makes them."""
    bound = scopes.reaching(source, net) if isinstance(net, ast.Name) else []
    made = bound[0].value if len(bound) == 1 and bound[0].how == "assign" and len(bound[0].path) <= 1 else None
    inner = flow.called(source, made) if isinstance(made, ast.Call) else None
    return (
        inner is not None and inner.source is source and not re.search("load|pretrain|freeze", source.code(inner.node))
    )


def _given_back(source: Source, use: ast.expr) -> bool:
    """`return encoder, decoder` of the function that makes them."""
    up = source.parents[use]
    return isinstance(up, ast.Tuple) and isinstance(source.parents[up], ast.Return)


def _handed_on(source: Source, use: ast.expr, name: str) -> bool:
    """`step(encoder, decoder)`, a function of this file that calls it by the same name: its uses there are asked as well."""
    call = source.parents[use]
    call = source.parents[call] if isinstance(call, ast.keyword) else call
    inner = flow.called(source, call) if isinstance(call, ast.Call) and "." not in name else None
    if inner is None or inner.source is not source or not isinstance(call, ast.Call):
        return False
    skip = 1 if inner.owner is not None else 0
    given = [arg.arg for arg in tree.parameters(inner.node) if given_argument(inner, call, arg, skip) is use]
    return given == [name]


def _looked_at(source: Source, use: ast.expr) -> bool:
    """`self.net.layers[0].weight` or `net[0].weight` at the top of the file, to print it."""
    over = source.parents[use]
    if isinstance(over, ast.Subscript) and over.value is use and isinstance(over.ctx, ast.Load):
        part = source.parents[over]
        return isinstance(part, ast.Attribute) and part.attr in ("weight", "bias") and isinstance(part.ctx, ast.Load)
    asked = source.parents.get(over)  # `net.freeze_all()`: who knows what it does
    called = isinstance(asked, ast.Call) and asked.func is over
    return (
        isinstance(over, ast.Attribute)
        and not called
        and over.attr
        not in (
            "parameters",
            "requires_grad_",
            "load_state_dict",
            "named_parameters",
            "modules",
            "children",
        )
    )


def _part_only(source: Source) -> Iterator[Hit]:
    """`Adam(net.encoder.parameters())`, where the whole of `net` is trained from scratch."""
    asked = [tree.receiver(one) for one in source.methods("parameters", "named_parameters")]
    for call, full in uses.calls_under(source, "torch.optim."):
        given = call.args[0] if call.args and api.kind_of_call(full) == "optimizer" else None
        part = tree.receiver(given) if isinstance(given, ast.Call) and follow.method(given) == "parameters" else None
        if not isinstance(part, ast.Attribute):
            continue
        whole = source.code(part.value)
        others = [one for one in asked if one is not part and f"{source.code(one)}.".startswith(f"{whole}.")]
        if others or whole == "self" or _chosen(source, call, part):
            continue
        rest = _layers_beside(source, part)
        owner = identity.identity(source, part.value) if rest else None
        turns = [event for turn in flow.rounds(source) for event in turn if event.what == "forward"] if owner else []
        if any(event.owner == owner and not event.no_grad for event in turns) and not frameworks.owned(source, call):
            told = f"`{whole}` is trained as a whole, but the optimizer gets `{part.attr}` only, and {_named(rest)} stay as drawn: give it `{whole}.parameters()`"
            yield source.hit(call, told)


def _groups_only(source: Source) -> Iterator[Hit]:
    """`[{"params": net.body.parameters()}, {"params": net.head.parameters()}]`, where `net.neck` is in no group."""
    asked = [tree.receiver(one) for one in source.methods("parameters", "named_parameters")]
    for call, full in uses.calls_under(source, "torch.optim."):
        listed = groups.listed(source, call) if api.kind_of_call(full) == "optimizer" else []
        boxes = [
            dict(zip(map(tree.literal, one.keys), one.values, strict=True))
            for one in listed
            if isinstance(one, ast.Dict) and None not in one.keys
        ]
        held = [groups.unfiltered(source, one.get("params")) for one in boxes]
        parts = [tree.receiver(one) for one in held if isinstance(one, ast.Call) and follow.method(one) == "parameters"]
        inner = [one for one in parts if isinstance(one, ast.Attribute)]
        if len(inner) != len(listed) or len(inner) < 2 or len({source.code(one.value) for one in inner}) != 1:
            continue
        whole = source.code(inner[0].value)
        others = [one for one in asked if one not in inner and f"{source.code(one)}.".startswith(f"{whole}.")]
        if others or whole == "self" or _chosen(source, call, inner[0]) or "add_param_group" in source.text:
            continue
        rest = [one for one in _layers_beside(source, inner[0]) if one not in {part.attr for part in inner}]
        owner = identity.identity(source, inner[0].value) if rest else None
        turns = [event for turn in flow.rounds(source) for event in turn if event.what == "forward"] if owner else []
        if any(event.owner == owner and not event.no_grad for event in turns) and not frameworks.owned(source, call):
            told = f"`{whole}` is trained as a whole, and {_named(rest)} is in none of these groups, so it stays as drawn: add a group for it"
            here = tree.function(source, listed[-1]) is tree.function(source, call)
            yield source.hit(call if here else listed[-1], told, severity="warning")


def _chosen(source: Source, call: ast.Call, part: ast.Attribute) -> bool:
    """Whether a line that loads or freezes names the network, or stands in the function that builds the optimizer."""
    name, home = tree.dotted(part.value).rpartition(".")[2], tree.function(source, call)
    beside = source.code(home) if home is not None else ""
    lines = [
        line for line in source.text.splitlines() if "filter(" not in line and any(word in line for word in _ON_PURPOSE)
    ]
    return any(name in line or line in beside for line in lines)


def _named(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:3])


def _layers_beside(source: Source, part: ast.Attribute) -> list[str]:
    """The other attributes of its owner that hold trainable layers, where the owner was made in this file."""
    found = source.values(part.value)
    owner = classes.class_behind(source, found[0]) if len(found) == 1 and found[0].node is not None else None
    beside: list[str] = []
    if owner is not None and any(word in owner.source.code(owner.node) for word in _ON_PURPOSE):
        return []  # the class itself loads or freezes its parts
    for name, assigned in classes.attributes(owner).items() if owner is not None else ():
        if f"{name}.eval(" in source.text or any(isinstance(one.value, ast.Name) for one in assigned):
            continue  # made elsewhere, or only read
        made = classes.attribute_values(owner, name, found[0]) if owner is not None else ()
        if name != part.attr and any(api.is_kind(one.kind, "module") and modules.has_parameters(one) for one in made):
            beside.append(name)
    return beside


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
        for other in trained.untrained(source, home or source.tree, name):
            told = f"two optimizers get `{name}`, and none gets `{other}`, which never changes: give this one `{other}.parameters()`"
            best = max(calls, key=lambda one: _alike(source.code(source.parents[one]), other))
            yield source.hit(best, told, severity="warning")  # two rates for one net may be meant
            break
        else:
            yield from _another_name(source, name, calls)


def _another_name(source: Source, name: str, calls: list[ast.Call]) -> Iterator[Hit]:
    """`opt_d = Adam(gen.parameters())` where `disc`, which is called in the same class or function, was handed in."""
    for call in calls:
        held = source.parents[call]
        goal = tree.dotted(held.targets[0]).rpartition(".")[2].lower() if isinstance(held, ast.Assign) else ""
        mark = goal.rpartition("_")[2]  # `d` of `optimizer_d`
        if "_" not in goal or _begins(name, mark):
            continue
        home, own = tree.home(source, call), name.startswith("self.")
        called = {tree.dotted(one.func): one for one in tree.under(source, home, ast.Call)}
        for other, one in called.items():
            same = other.startswith("self.") == own and other.count(".") == name.count(".") and _begins(other, mark)
            known = same and f"{other}.parameters" not in source.text and not values.sure(source, one.func, "function")
            if known and values.maybe(source, one.func, "module") and not trained.settled(source, other):
                told = f"`{goal}` gets `{name}`, which has an optimizer, and none gets `{other}`, which never changes"
                yield source.hit(call, f"{told}: give this one `{other}.parameters()`", severity="warning")
                return


def _begins(name: str, mark: str) -> bool:
    """Whether `disc` and `self.net_d` are what `d` stands for."""
    last = name.rpartition(".")[2].lower()
    return bool(mark) and (last.startswith(mark) or last.endswith(f"_{mark}"))


def _twice_in_one(source: Source) -> Iterator[Hit]:
    """`Adam(chain(a.parameters(), a.parameters()))`, while `b`, which is trained beside it, is given to nobody."""
    for call, full in uses.calls_under(source, "torch.optim."):
        given = call.args[0] if call.args and api.kind_of_call(full) == "optimizer" else None
        given = follow.followed(source, given) if isinstance(given, ast.Name) else given
        asked = tree.under(source, given, ast.Call) if given is not None else []
        names = [source.code(tree.receiver(one)) for one in asked if follow.method(one) == "parameters"]
        twice = [name for name in names if names.count(name) > 1]
        other = next(trained.untrained(source, tree.home(source, call), twice[0]), None) if twice else None
        if other is not None:
            told = f"`{twice[0]}` is in this optimizer twice, and `{other}` is in none, so it never changes"
            yield source.hit(call, f"{told}: write `{other}.parameters()` once")


def _listed_twice(source: Source) -> Iterator[Hit]:
    """`list(a.parameters()) + list(a.parameters())`, whoever gets the list."""
    for sum_ in grouped.operations(source, ast.Add):
        up = source.parents[sum_]
        if isinstance(up, ast.BinOp) and isinstance(up.op, ast.Add):
            continue  # a part of a longer one
        bare = [one.args[0] if source.name(getattr(one, "func", one)) == "list" else one for one in _joined(sum_)]  # type: ignore[attr-defined]  # a call
        names = [source.code(tree.receiver(one)) for one in bare if follow.method(one) == "parameters"]  # type: ignore[arg-type]  # a call
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None and next(trained.untrained(source, tree.home(source, sum_), twice), None) is None:
            yield source.hit(
                sum_, f"`{twice}.parameters()` is in this list twice: one was meant to be another's", severity="warning"
            )


def _alike(code: str, name: str) -> int:
    """How much of a network's name is in the name of an optimizer."""
    own, target = name.rpartition(".")[2].lower(), code.partition("=")[0].rpartition(".")[2].lower()
    return max((length for length in range(len(own) + 1) if own[:length] in target), default=0)


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


def _shown(source: Source, attribute: ast.Attribute) -> bool:
    """`weigh.log_vars.tolist()`, and what is printed: numbers to look at."""
    up, around = source.parents[attribute], tree.statement(source, attribute)
    told = around.value if isinstance(around, ast.Expr) else None
    printed = isinstance(told, ast.Call) and source.name(told.func) == "print"
    return printed or (
        isinstance(up, ast.Attribute) and up.attr in {"item", "tolist", "detach", "data", "cpu", "shape"}
    )


def _only_called(source: Source, name: ast.Name) -> bool:
    """Whether every use of the name is a call of it where something is trained, or changes nothing about it."""
    uses = [one for one in source.all(ast.Name) if one.id == name.id and isinstance(one.ctx, ast.Load)]
    called, home = False, tree.function(source, name)
    for use in uses:
        bound = scopes.reaching(source, use)
        if bound and all(tree.function(source, one.node) is not home for one in bound):
            continue  # another function's variable of the same name
        if all(one.node is not name for one in bound):
            return False
        up = source.parents[use]
        if isinstance(up, ast.Call) and up.func is use:
            called |= _trains(source, up)
        elif isinstance(up, ast.Call | ast.keyword) and (inner := _read_there(source, use)) is not None:
            called |= inner
        elif not (
            isinstance(up, ast.Attribute)
            and (up.attr in _HARMLESS or _shown(source, up))
            and not isinstance(source.parents[up], ast.Assign)
        ):
            return False
    frozen = any(up for up in tree.ancestors(source, name) if isinstance(up, ast.ClassDef))
    return called and not frozen


def _read_there(source: Source, use: ast.Name, hops: int = 2) -> bool | None:
    """`train(model, center, loader)`: whether that function of the file trains with it; None if it does more than call it."""
    call = source.parents[use]
    call = source.parents[call] if isinstance(call, ast.keyword) else call
    inner = flow.called(source, call) if isinstance(call, ast.Call) else None
    if inner is None or inner.source is not source or not isinstance(call, ast.Call) or not hops:
        return None
    skip = 1 if inner.owner is not None else 0
    taken = [arg.arg for arg in tree.parameters(inner.node) if given_argument(inner, call, arg, skip) is use]
    called = False
    for one in tree.under(source, inner.node, ast.Name) if len(taken) == 1 else ():
        up = source.parents[one]
        if one.id != taken[0]:
            continue
        if isinstance(up, ast.Call) and up.func is one:
            called |= _trains(source, up)
        elif isinstance(up, ast.Call | ast.keyword) and isinstance(one.ctx, ast.Load):
            deeper = _read_there(source, one, hops - 1)
            if deeper is None:
                return None
            called |= deeper
        elif not (isinstance(up, ast.Attribute) and (up.attr in _HARMLESS or _shown(source, up))):
            return None
    return called if taken else None


def _thawed(source: Source) -> Iterator[Hit]:
    """`Adam(filter(lambda p: p.requires_grad, ...))`, and later `p.requires_grad = True` for what was frozen before."""
    for place, built in freed.too_late(source):
        told = f"what is trainable from here on was frozen when the optimizer was built {built}, so it never changes: call `add_param_group`"
        yield source.hit(place, told)


def _loose(source: Source) -> Iterator[Hit]:
    """`log_vars = nn.Parameter(...)` beside the network, used in the loss of the loop, and given to no optimizer."""
    made = [call for call, full in uses.calls_under(source, "torch.optim.") if api.kind_of_call(full) == "optimizer"]
    for call in source.calls("torch.nn.Parameter"):
        held, home = source.parents[call], tree.function(source, call)
        name = held.targets[0] if isinstance(held, ast.Assign) else None
        if not isinstance(name, ast.Name) or tree.literal(tree.argument(call, 1, "requires_grad")) is False:
            continue
        beside = [one for one in made if tree.function(source, one) is home]
        loads = (one for one in uses.names(source, name.id) if isinstance(one.ctx, ast.Load))
        reads = [one for one in loads if any(bound.node is name for bound in scopes.reaching(source, one))]
        mine = [one for one in reads if tree.function(source, one) is home]
        plain = bool(mine) and len(mine) == len(reads) and all(_computes(source, one) for one in mine)
        turns = {loop.node for loop in flow.backward_loops(source)} if plain and len(beside) == 1 else set()
        trained = any(turn in turns for one in mine for turn in tree.loops(source, one))
        if trained and beside[0].args and _all_whole(source, beside[0]) and not frameworks.owned(source, beside[0]):
            told = f"`{name.id}` comes into the loss and no optimizer gets it, so it never changes: give this one `[*..., {name.id}]`"
            yield source.hit(beside[0], told)


def _computes(source: Source, use: ast.Name) -> bool:
    """Whether it is read in a formula, or printed: nobody else gets hold of it."""
    up: ast.AST = source.parents[use]
    while isinstance(up, ast.Subscript | ast.UnaryOp | ast.Attribute) or follow.method(up) in (
        "exp",
        "clamp",
        "item",
        "tolist",
        "detach",
    ):
        up = source.parents[up]
    if isinstance(up, ast.Call):
        return source.name(up.func).startswith("torch.") or source.name(up.func) in ("print", "float", "zip")
    return isinstance(up, ast.BinOp | ast.FormattedValue)
