"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import (
    api,
    averages,
    calls,
    classes,
    flow,
    frameworks,
    identity,
    origin,
    project,
    scopes,
    stated,
    tree,
    uses,
    values,
)
from torchlore.check.events import Event
from torchlore.check.source import Hit, Source
from torchlore.check.values import Value

_NETS = (r"(?:(?:wide_|se)?res(?:net|next)|densenet|(?:tf_)?mobilenet|(?:tf_)?efficientnet|mnasnet|shufflenet|regnet|googlenet|"
         r"inception|vgg\d+_bn)\w*$")  # fmt: skip
_HEADS = ("fc", "classifier", "head", "heads")
_WITH_BN = re.compile(r"torchvision\.models\.(?:\w+\.)*" + _NETS + r"|torch\.nn\.BatchNorm")
_DIMS = ("torch.nn.BatchNorm1d", "torch.nn.BatchNorm2d", "torch.nn.BatchNorm3d")
_BY_NAME = {
    "timm.create_model": 0,
    "timm.models.create_model": 0,
    "torchvision.models.get_model": 0,
    "torch.hub.load": 1,
}
WORDS = ("requires_grad|requires_grad_|eval", "requires_grad|requires_grad_|*BatchNorm*")


def find(source: Source) -> Iterator[Hit]:
    if "BatchNorm" in source.text and any(source.methods("eval")):
        yield from (*_undone(source), *_left_out(source))
    if not _freezes(source):
        return
    yield from _in_lightning(source)
    for _, events in flow.training_entries(source):
        frozen = [
            one
            for one in events
            if one.what == "freeze" and one.source is source and not _moved(source, one) and not _thawed(source, one)
            if not _half(source, one)
        ]
        trains = {loop for one in events if one.what == "backward" for loop in one.loops}
        frozen = [one for one in frozen if not trains & {*one.loops}]  # a judge that rests while the other one learns
        if not frozen or _kept_in_eval(source, events) or _part_in_eval(source, frozen, events):
            continue
        last = max((i for i, event in enumerate(events) if event.what == "backward"), default=-1)
        yield from _put_into_train(source, frozen, events[: last + 1])
        yield from _never_switched(source, frozen, events[: last + 1])


def _freezes(source: Source) -> bool:
    """`net.requires_grad_(False)` and `p.requires_grad = False`; a glance, while the order of events costs time."""
    told = [tree.argument(one, 0, "requires_grad") for one in source.methods("requires_grad_")]
    held = (source.parents[one] for one in uses.attributes(source, "requires_grad") if isinstance(one.ctx, ast.Store))
    told += [one.value for one in held if isinstance(one, ast.Assign)]
    return any(tree.literal(one) is False for one in told)


def _half(source: Source, freeze: Event) -> bool:
    """`bn.weight.requires_grad = False` while the bias learns: a norm of fixed scale, and it is to follow the batches."""
    part = freeze.expr
    other = {"weight": "bias", "bias": "weight"}.get(part.attr) if isinstance(part, ast.Attribute) else None
    if other is None or not isinstance(part, ast.Attribute):
        return False
    holder, home = re.escape(source.code(part.value)), tree.function(source, part) or source.tree
    return re.search(rf"{holder}\.{other}\.requires_grad\b|{holder}\.parameters\(", source.code(home)) is None


def _thawed(source: Source, freeze: Event) -> bool:
    """Whether the same loop sets it free again: a discriminator that rests while the generator learns."""
    part = _frozen(freeze)
    code = source.code(part) if part is not None else ""
    around = [one for one in freeze.loops if isinstance(one, ast.For | ast.While)]
    texts = (source.code(one) for one in around[:-1] or around)
    back = rf"for \w+ in {re.escape(code)}\.parameters\(\):(?:[^\n]*\n)?\s*\w+\.requires_grad = True|{re.escape(code)}\.requires_grad_\(True\)"
    return bool(code) and any(re.search(back, text) for text in texts)


def _moved(source: Source, freeze: Event) -> bool:
    """Whether what is frozen follows another network as its average: BYOL leaves such a one in train mode."""
    part = _frozen(freeze)
    name = tree.dotted(part).rpartition(".")[2] if part is not None else ""
    moved = (net for one in averages.averages(source) for net in (one.average, *_given(source, one.average)))
    return any(tree.dotted(net).rpartition(".")[2] == name for net in moved)


def _given(source: Source, name: ast.expr) -> list[ast.expr]:
    """What the callers of `follow(net, average)` hand it as its `average`."""
    bound = scopes.reaching(source, name) if isinstance(name, ast.Name) else []
    args = [one.node for one in bound if one.how == "parameter" and isinstance(one.node, ast.arg)]
    return [net for arg in args for _, net in calls.given(source, arg) if net is not None]


def _put_into_train(source: Source, frozen: list[Event], events: tuple[Event, ...]) -> Iterator[Hit]:
    found = list[tuple[bool, Event]]()
    for place, event in enumerate(events):
        if event.what != "train" or event.source is not source:
            continue
        before = [one for one in frozen if _is_frozen_part(source, one, event)]
        if before and not _taken_back(source, before, event, events[place + 1 :]):
            found.append((any(one in events[:place] for one in before), event))
    behind = [event for since, event in found if since]  # one from before the freezing only says which mode it is in
    for event in (behind or [event for _, event in found])[:1]:
        yield source.hit(
            event.node,
            "batch norm in the frozen part goes on updating its statistics in train mode: put that part into eval() "
            "behind this line",
        )


def _taken_back(source: Source, frozen: list[Event], train: Event, later: tuple[Event, ...]) -> bool:
    """Whether all of it is put into eval mode afterwards for good: a teacher that is trained first, then frozen."""
    switches = [one for one in later if one.what in ("train", "eval") and not one.conditions]
    mine = [[one for one in switches if _is_frozen_part(source, part, one)] for part in frozen]
    return all(own and own[-1].what == "eval" and not {*own[-1].loops} & {*train.loops} for own in mine)


def _never_switched(source: Source, frozen: list[Event], events: tuple[Event, ...]) -> Iterator[Hit]:
    """A module is in train mode from its making: nobody needs to call `train()`."""
    if any(event.what in ("train", "eval") for event in events):
        return
    for event in frozen:
        later = events[events.index(event) :] if event in events else ()
        if any(one.what == "forward" and one.loops and _is_frozen_part(source, event, one) for one in later):
            yield _stays(source, event)
            return


def _in_lightning(source: Source) -> Iterator[Hit]:
    """The trainer leaves each part in the mode it has, and a part that nobody switched is in train mode."""
    for node in source.all(ast.ClassDef) if frameworks.frameworks(source) & {"lightning"} else ():
        methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
        if "training_step" not in methods or "__init__" not in methods or "train" in methods:
            continue
        if re.search(r"\.(eval|train|freeze)\(", source.code(node)):
            continue
        for event in flow.events_of(source, methods["__init__"]):
            if (
                event.what == "freeze"
                and event.source is source
                and not event.conditions
                and not _half(source, event)
                and not _moved(source, event)
                and _holds(source, event)
            ):
                yield _stays(source, event)
                break


def _stays(source: Source, freeze: Event) -> Hit:
    return source.hit(
        freeze.node,
        "what is frozen here stays in train mode, in which its batch norm goes on updating its statistics: put it into eval() too",
    )


def _frozen(freeze: Event) -> ast.expr | None:
    """What is frozen; of `for p in model.backbone.parameters(): p.requires_grad = False` the backbone."""
    node: ast.expr | None = freeze.expr
    if isinstance(node, ast.Name):
        loop = next((one for one in freeze.loops[::-1] if isinstance(one, ast.For)), None)
        call = loop.iter if loop is not None else None
        walks = ["parameters"] if loop is None or _chooses(loop) else ["parameters", "named_parameters"]
        named = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in walks
        node = call.func.value if named else node  # type: ignore[union-attr]  # named says so
    return _handed(freeze.source, node) if isinstance(node, ast.Name) else node


def _chooses(loop: ast.For) -> bool:
    """Whether the loop asks for the names, and so may leave some out."""
    return any(isinstance(one, ast.If | ast.IfExp | ast.Compare | ast.Continue) for one in ast.walk(loop))


def _handed(source: Source, name: ast.Name) -> ast.expr:
    """`net` behind `freeze(child)` in a loop over `net.named_children()`; the argument of the only call of a helper."""
    bound = scopes.reaching(source, name)
    one = bound[0] if len(bound) == 1 else None
    if one is not None and one.how == "parameter" and (kept := _kept_as(source, name)) is not None:
        return kept
    if one is not None and one.how == "parameter" and isinstance(one.node, ast.arg):
        given = calls.given(source, one.node)
        inner = given[0][1] if len(given) == 1 and given[0][0] is source else None
        return _handed(source, inner) if isinstance(inner, ast.Name) else inner or name
    over = one.value if one is not None and one.how == "for" else None
    walks = isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute)
    children = walks and over.func.attr in ("children", "named_children")  # type: ignore[union-attr]  # walks says so
    return over.func.value if children else name  # type: ignore[union-attr]  # walks says so


def _kept_as(source: Source, name: ast.Name) -> ast.expr | None:
    """`self.body` of `self.body = body` in the `__init__` that is given `body`."""
    home = tree.function(source, name)
    kept = tree.under(source, home, ast.Assign) if home is not None and home.name == "__init__" else []
    own = [one.targets[0] for one in kept if tree.dotted(one.value) == name.id]
    return next((one for one in own if tree.dotted(one).startswith("self.")), None)


def _holds(source: Source, freeze: Event) -> bool:
    node = _frozen(freeze)
    return node is not None and (
        any(_has_batchnorm(source, value) for value in source.values(node)) or _is_cut(source, node)
    )


def _is_cut(source: Source, node: ast.expr) -> bool:
    """`resnet.layer1`, or `nn.Sequential(*list(resnet.children())[:-1])`: a part of a net of a library, but its head."""
    cls = project.enclosing_class(source, node) if tree.dotted(node).startswith("self.") else None
    held = classes.assigned(cls, node.attr) if cls is not None and isinstance(node, ast.Attribute) else []
    own = held[0].value if len(held) == 1 else None
    own = own.elts[held[0].path[0]] if isinstance(own, ast.Tuple) and held[0].path else own
    home, made = origin.origin(held[0].source, own) if own is not None else origin.origin(source, node)
    if isinstance(made, ast.Attribute) and made.attr not in _HEADS:
        return any(_WITH_BN.match(one.name) for one in home.values(made.value))
    walks = [one.func for one in ast.walk(made) if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)]
    nets = [one.value for one in walks if one.attr == "children"]
    return any(_WITH_BN.match(one.name) for net in nets for one in home.values(net))


def _is_frozen_part(source: Source, freeze: Event, train: Event) -> bool:
    """Whether what is frozen holds batch norm, and the event is one of it or of what it is a part of."""
    node = _frozen(freeze)
    if node is None or not all(_is_so(freeze.source, test, branch=branch) for test, branch in freeze.conditions):
        return False
    owner = identity.identity(source, node)
    inside = (
        owner is not None
        and train.owner is not None
        and (owner[: len(train.owner)] == train.owner or _is_of_class(source, owner[0], _meant(source, train)))
    )
    inside = inside or _is_handed_on(source, node, train) or _is_item(source, node, train)
    return (
        (inside or (train.owner is not None and _is_own(source, node, _meant(source, train))))
        and _holds(source, freeze)
        and not _later(source, node, train)
    )


def _is_so(source: Source, test: ast.expr, *, branch: bool) -> bool:
    """Whether `if freeze:` is met for all that callers give, or by the default that nobody changes."""
    turned = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    flag = test.operand if isinstance(test, ast.UnaryOp) and turned else test
    found = stated.constants(source, flag) if isinstance(flag, ast.Name) else []
    return bool(found) and all(one is (branch is not turned) for one in found)


def _later(source: Source, node: ast.expr, train: Event) -> bool:
    """Whether the name means another net further up: a notebook makes, trains and forgets one after the other."""
    if not isinstance(node, ast.Name) or not isinstance(train.expr, ast.Name) or node.lineno < train.expr.lineno:
        return False
    here, there = ([one.node for one in scopes.reaching(source, name)] for name in (node, train.expr))
    same_home = tree.function(source, node) is tree.function(source, train.expr)
    return same_home and bool(here) and not set(here) & set(there)


def _is_handed_on(source: Source, node: ast.expr, train: Event) -> bool:
    """`net = build()`, where `build` makes, freezes and returns it: both names mean what one call made."""
    home = tree.function(source, node)  # it makes what it freezes; a factory that others freeze makes several
    found = [one.node for one in source.values(node) if isinstance(one.node, ast.Call) and one.source is source]
    made = {id(one) for one in found if tree.function(source, one) is home}
    seen = {id(one.node) for one in train.source.values(train.expr)} if train.expr is not None else set()
    return bool(seen) and seen <= made and home is not tree.function(source, train.node)


def _is_item(source: Source, node: ast.expr, train: Event) -> bool:
    """`nn.Sequential(body, head).train()`, where the body is frozen under a name of its own."""
    made = train.source.values(train.expr) if train.expr is not None else ()
    held = {id(one.node) for whole in made for group in whole.items for one in group}
    frozen = {id(one.node) for one in source.values(node)}
    return bool(frozen) and frozen <= held


def _meant(source: Source, event: Event) -> ast.expr | None:
    """What the call that leads to it gives: `fit` may get another net each time."""
    home, name = event.via[0] if len(event.via) == 1 else None, tree.dotted(event.expr) if event.expr else ""
    if home is None or home.owner or home.source is not source or not isinstance(event.at, ast.Call):
        return event.expr
    arg = next((one for one in tree.parameters(home.node) if one.arg == name), None)
    given = calls.given_argument(home, event.at, arg, 0) if arg is not None else None
    return given or event.expr


def _is_own(source: Source, node: ast.expr, expr: ast.expr | None) -> bool:
    """Whether `self.body` is frozen in the class of which an expression is an instance, whoever made the body."""
    cls = project.enclosing_class(source, node) if tree.dotted(node).startswith("self.") else None
    made = source.values(expr) if expr is not None and cls is not None else ()
    return bool(made) and all(classes.class_behind(source, one) == cls for one in made)


def _is_of_class(source: Source, owner: object, expr: ast.expr | None) -> bool:
    """Whether an expression is an instance of the class on whose `self` something hangs."""
    made = source.values(expr) if expr is not None and isinstance(owner, str) else ()
    return bool(made) and all(one.name.rpartition(".")[2] == str(owner).rpartition(".")[2] for one in made)


def _has_batchnorm(source: Source, value: Value, depth: int = 4) -> bool:
    if _WITH_BN.match(value.name):
        return True
    if value.name in _BY_NAME and isinstance(value.node, ast.Call) and len(value.node.args) > _BY_NAME[value.name]:
        return bool(re.match(_NETS, str(tree.literal(value.node.args[_BY_NAME[value.name]]))))
    if any(_has_batchnorm(source, one, depth) for group in value.items for one in group) or _of_parts(value):
        return True
    owner = classes.class_behind(source, value) if depth else None
    parts = [one for found in classes.attributes(owner).values() for one in found] if owner else []
    held = (made for one in parts if one.value is not None for made in one.source.values(one.value))
    return any(_has_batchnorm(source, made, depth - 1) for made in held if api.is_kind(made.kind, "module"))


def _of_parts(value: Value) -> bool:
    """`nn.Sequential(net.conv1, net.bn1, net.layer1)` of a net of a library."""
    made, home = value.node, value.source
    if value.kind != "sequential" or not isinstance(made, ast.Call) or home is None:
        return False
    parts = [one for one in made.args if isinstance(one, ast.Attribute) and one.attr not in _HEADS]
    return any(_WITH_BN.match(net.name) for one in parts for net in home.values(one.value))


def _left_out(source: Source) -> Iterator[Hit]:
    """`isinstance(m, nn.BatchNorm2d)` before `m.eval()` in a class whose frozen part has a `BatchNorm1d` too."""
    for call in source.methods("eval"):
        tests = [test for test, branch in tree.conditions(source, call) if branch]
        asked = [test for test in tests if isinstance(test, ast.Call) and source.name(test.func) == "isinstance"]
        kind = source.name(asked[0].args[1]) if len(asked) == 1 and len(asked[0].args) == 2 else ""
        owner = project.enclosing_class(source, call) if kind.startswith("torch.nn.BatchNorm") else None
        if owner is None or not tree.loops(source, call):
            continue
        others = [one for one in source.calls(*(set(_DIMS) - {kind})) if tree.inside(source, one, owner.node)]
        held = [tree.statement(source, one) for one in others]
        parts = {tree.dotted(one.targets[0]) for one in held if isinstance(one, ast.Assign)}
        outer = tree.loops(source, call)[-1]
        over = f"{source.code(outer.iter)}," if isinstance(outer, ast.For) else ""
        walked = any(f"{one}{end}" in over for one in parts if one for end in (",", ")", "."))
        if walked and "requires_grad" in source.code(outer):
            found = source.name(others[0].func).rpartition(".")[2]
            told = f"the `{found}` of line {others[0].lineno} is frozen too and goes on updating its statistics: ask for it as well"
            yield source.hit(asked[0], told)


def _undone(source: Source) -> Iterator[Hit]:
    """Batch norm put into eval mode in `__init__`, which the first `net.train()` takes back."""
    for call in source.methods("eval"):
        loop = next((one for one in tree.loops(source, call) if isinstance(one, ast.For)), None)
        over = source.code(loop.iter) if loop is not None else ""
        tests = [source.code(test) for test, branch in tree.conditions(source, call) if branch]
        if over not in ("self.modules()", "self.named_modules()") or not tests or "BatchNorm" not in tests[0]:
            continue
        home, owner = tree.function(source, call), project.enclosing_class(source, call)
        if owner is None or home is None or source.project.method(owner, "train") is not None:
            continue
        at = [call] if home.name == "__init__" else _only_from_init(source, owner, home.name)
        if at and _is_trained(source, owner):
            yield source.hit(
                at[0],
                f"batch norm is in eval mode until the first `train()` of the network, which undoes this: override `train` in "
                f"`{owner.node.name}`, or do it again after each `train()`",
            )


def _only_from_init(source: Source, owner: project.Class, name: str) -> list[ast.Call]:
    """The calls of a method in `__init__`, if nobody else calls it."""
    calls = [
        (one, other)
        for one in project.candidates(source.project, owner, owner.node.name)
        for other in one.methods(name)
    ]
    inside = [other for one, other in calls if one is source and tree.class_of(source, other) is owner.node
              and getattr(tree.function(source, other), "name", "") == "__init__"]  # fmt: skip
    return inside if len(inside) == len(calls) else []


def _is_trained(source: Source, owner: project.Class) -> bool:
    users = project.candidates(source.project, owner, owner.node.name)
    return any(not one.args or tree.literal(one.args[0]) is True for user in users for one in user.methods("train"))


def _is_part(event: Event) -> bool:
    """`net.body.eval()`, where `net` is a module itself."""
    part = event.expr
    return isinstance(part, ast.Attribute) and values.sure(event.source, part.value, "module")


def _kept_in_eval(source: Source, events: tuple[Event, ...]) -> bool:
    """Whether some part is put into eval mode beside the whole, by a call, by `apply`, or by an own `train`."""
    first = next((i for i, one in enumerate(events) if one.what == "train"), 0)  # what was set before is undone there
    later = [one for one in events[first:] if one.what == "eval" and one.owner is not None]
    parts = [one for one in later if len(one.owner or ()) > 2 or _is_part(one)]
    own = any(node.name == "train" and _is_switch(source, node) for node in source.all(ast.FunctionDef))
    return bool(parts) or own or "BatchNorm" in "".join(source.code(one) for one in source.calls("isinstance"))


def _part_in_eval(source: Source, frozen: list[Event], events: tuple[Event, ...]) -> bool:
    """Whether a frozen part goes back to eval mode by a name of its own, behind the last `train()` of the whole."""
    trained = [one.owner for one in events if one.what == "train"]
    last = max((place for place, one in enumerate(events) if one.what == "train"), default=-1)
    parts = (_frozen(one) for one in frozen)
    own = [identity.identity(source, part) for part in parts if part is not None]
    return any(one.what == "eval" and one.owner in own and one.owner not in trained for one in events[last + 1 :])


def _is_switch(source: Source, node: ast.FunctionDef) -> bool:
    """A network's own `train(self, mode)`; a function `train(model, loader)` runs the loop."""
    owner = project.enclosing_class(source, node)
    return owner is not None and (classes.is_module(owner) or "super()" in source.code(node))
