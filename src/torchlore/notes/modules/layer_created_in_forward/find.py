"""The rule of layer-created-in-forward."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, classes, flow, follow, tree, uses, values
from torchlore.check.events import Event
from torchlore.check.modules import has_parameters, parameterless
from torchlore.check.project import Class, enclosing_class
from torchlore.check.source import Hit, Source

_TURNS = ("forward", "training_step")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
WORDS = ("forward|lambda",)


def find(source: Source) -> Iterator[Hit]:
    for call, name in uses.calls_under(source, "torch.nn."):
        up = source.parents[call]
        if name.count(".") != 2 or not name[9:10].isupper() or (isinstance(up, ast.Assign) and not _named(up)):
            continue
        home = tree.function(source, call)
        if home is None or (home.name != "forward" and not _applied(source, call, home)):
            continue
        cls = enclosing_class(source, call)
        if cls is None or tree.method_class(source, home) is not cls.node:
            continue
        if (home.name != "forward" and not _part_of_forward(source, cls, home)) or not _used_here(source, call):
            continue
        if ".backward(" in source.code(home):
            continue  # it is made and trained here, for one task
        off = ("track_running_stats", "elementwise_affine", "affine")  # to normalise, no more
        plain = any(_may_be_off(tree.argument(call, None, one)) for one in off)
        if name == "torch.nn.Module" or plain or not classes.is_module(cls):
            continue
        if any(one.kind == "module" and not parameterless(one) for one in values.values(source, call)):
            weights = "with weights that nobody trains" if "Norm" in name else "with random weights"
            yield source.hit(
                call, f"`{source.code(call.func)}` is made anew at each call, {weights}: make it in `__init__`"
            )
    yield from (*_parameters(source), *_at_first_use(source), *_in_lambda(source), *_by_helper(source))


def _named(held: ast.Assign) -> bool:
    """`conv = nn.Conv2d(a, b, 1)`, kept in nothing but local names."""
    return all(isinstance(target, ast.Name) for target in held.targets)


def _applied(source: Source, call: ast.Call, home: tree.FunctionNode) -> bool:
    """`nn.Conv2d(a, b, 1)(x)`, or `conv = nn.Conv2d(a, b, 1)` and `conv(x)` below it: what the helper returns is no layer."""
    up = source.parents[call]
    if isinstance(up, ast.Call):
        return up.func is call
    name = tree.dotted(up.targets[0]) if isinstance(up, ast.Assign) and len(up.targets) == 1 else ""
    if not name:
        return False
    used = [one for one in uses.names(source, name) if isinstance(one.ctx, ast.Load)]
    ups = [source.parents[one] for one in used if tree.inside(source, one, home)]
    return bool(ups) and all(isinstance(one, ast.Call) and tree.dotted(one.func) == name for one in ups)


def _part_of_forward(source: Source, cls: Class, home: tree.FunctionNode, hops: int = 3) -> bool:
    """Whether every call of a method is `self.shortcut(x)` in `forward`, or in a method that is such a part of it."""
    sites = [one for one in source.methods(home.name) if source.parents.get(one) is not None]
    own = [one for one in sites if tree.dotted(tree.receiver(one)) == "self" and tree.class_of(source, one) is cls.node]
    homes = [tree.function(source, one) for one in own]
    plain = not home.decorator_list and bool(own) and len(own) == len(sites) and hops > 0
    return plain and all(
        one is not None
        and (one.name == "forward" or (one is not home and _part_of_forward(source, cls, one, hops - 1)))
        for one in homes
    )


def _by_helper(source: Source) -> Iterator[Hit]:
    """`self._shortcut()(x)` and `Block(64)(x)` in `forward`: a method, a function or a class of the project makes a new layer."""
    for cls in classes.all_classes(source) if re.search(r"def (forward|training_step)\b", source.text) else ():
        turns = [one for name in _TURNS if (one := classes.methods(cls).get(name)) is not None]
        for call in (one for turn in turns for one in _runs_made(source, turn)):
            maker = follow.followed(source, call.func)
            if not isinstance(maker, ast.Call) or source.name(maker.func).startswith("torch."):
                continue
            if classes.is_module(cls) and _fresh(source, maker):
                told = (
                    f"`{source.code(maker)}` makes a new layer at each call, with random weights: make it in `__init__`"
                )
                yield source.hit(maker, told)


def _runs_made(source: Source, forward: tree.FunctionNode) -> Iterator[ast.Call]:
    """The calls of what a call gives, or of a name that may hold that."""
    for call in tree.under(source, forward, ast.Call):
        func = call.func
        if not isinstance(func, ast.Call) and not (isinstance(func, ast.Name) and func.id in source.names.stored):
            continue
        if next(up for up in tree.ancestors(source, call) if isinstance(up, _SCOPES)) is forward:
            yield call


def _fresh(source: Source, maker: ast.Call) -> bool:
    """Whether every way through the maker ends in a constructor of a layer with weights of its own."""
    found = values.values(source, maker)
    if not found or not all(one.kind in ("module", "sequential") and has_parameters(one) for one in found):
        return False
    made = flow.called(source, maker)
    if made is None or made.node.name == "__init__" or _borrows(source, maker):
        return all(one.node is maker for one in found) and not _borrows(source, maker)
    back = [follow.followed(made.source, one) for one in calls.returned(made)]
    built = (isinstance(one, ast.Call) and not _borrows(made.source, one) for one in back)
    return bool(back) and not made.node.decorator_list and all(built)


def _borrows(source: Source, call: ast.Call) -> bool:
    """`nn.Sequential(self.a, self.b)`, `Wrapped(net)`: the weights are somebody else's."""
    given = [*call.args, *(one.value for one in call.keywords)]
    return any(
        isinstance(one, ast.Starred) or values.maybe(source, one, "module", weak=True)
        for one in given
        if not isinstance(one, ast.Call)
    )


def _in_lambda(source: Source) -> Iterator[Hit]:
    """`self.skip = lambda x: nn.Conv2d(a, b, 1)(x)`: a new layer whenever it is called."""
    for short in source.all(ast.Lambda) if "self." in source.text else ():
        held = tree.statement(source, short)
        own = isinstance(held, ast.Assign) and tree.dotted(held.targets[0]).startswith("self.")
        cls = enclosing_class(source, short) if own else None
        if cls is None or not classes.is_module(cls):
            continue
        for call in (one.func for one in ast.walk(short.body) if isinstance(one, ast.Call)):
            made = values.values(source, call) if isinstance(call, ast.Call) else ()
            if any(one.kind in ("module", "sequential") and not parameterless(one) for one in made):
                told = f"`{source.code(call)}` is made anew at each call, with random weights: make it in `__init__`"
                yield source.hit(call, told)


def _may_be_off(given: ast.expr | None) -> bool:
    """`affine=False`, or a setting that may say so."""
    return given is not None and tree.literal(given) is not True


def _parameters(source: Source) -> Iterator[Hit]:
    """`self.weight = nn.Parameter(...)` in every forward pass: the optimizer holds the one before."""
    for call in source.calls("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
        held = source.parents[call]
        home = tree.function(source, call) if isinstance(held, ast.Assign) else None
        if not isinstance(held, ast.Assign) or home is None or home.name != "forward":
            continue
        cls = enclosing_class(source, call)
        if cls is None or tree.conditions(source, call) or not classes.is_module(cls):
            continue
        name, fixed = source.code(held.targets[0]), _may_be_off(tree.argument(call, 1, "requires_grad"))
        if tree.dotted(held.targets[0]).startswith("self."):
            told = f"`{name}` is a new parameter at each call, and the optimizer holds an old one: compute with it, assign nothing"
            yield source.hit(call, told)
        elif not fixed and _new(source, call):
            told = f"`{name}` is a new parameter at each call, which no optimizer ever gets: make it in `__init__`"
            yield source.hit(call, told)


def _new(source: Source, call: ast.Call) -> bool:
    """`nn.Parameter(torch.ones(n))`: made of nothing that is computed."""
    given = call.args[0] if call.args else None
    name = source.name(given.func) if isinstance(given, ast.Call) else ""
    return name in (
        "torch.ones",
        "torch.zeros",
        "torch.randn",
        "torch.rand",
        "torch.empty",
        "torch.full",
        "torch.tensor",
    )


def _at_first_use(source: Source) -> Iterator[Hit]:
    """`if self.proj is None: self.proj = nn.Linear(...)` in `forward`, where the optimizer is built before the first pass."""
    made = uses.calls_under(source, "torch.nn.") if "is None" in source.text else ()
    for call in (call for call, name in made if name.count(".") == 2 and _lazy(source, call)):
        held, cls = source.parents[call], enclosing_class(source, call)
        if cls is None or not _optimizer_first(source, cls):
            continue
        name = source.code(held.targets[0]) if isinstance(held, ast.Assign) else "it"
        told = f"`{name}` is made in the first forward pass, after the optimizer took the parameters: make it in `__init__`"
        yield source.hit(call, told, severity="warning")


def _lazy(source: Source, call: ast.Call) -> bool:
    held = source.parents[call]
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
    if not name.startswith("self.") or isinstance(source.parents[held], tree.FunctionNode):
        return False
    home = tree.function(source, call)
    if home is None or home.name != "forward":
        return False
    asked = any(f"{name} is None" in source.code(test) for test, branch in tree.conditions(source, call) if branch)
    made = values.values(source, call) if asked else ()
    return any(one.kind == "parameter" or (one.kind == "module" and not parameterless(one)) for one in made)


def _optimizer_first(source: Source, cls: Class) -> bool:
    """Whether an optimizer is built for such a model in this file, and no model is called before it."""
    built = False
    for _, events in flow.entries(source):
        order = [event for event in events if event.what in ("optimizer", "forward") and not _own_layer(event)]
        mine = [event for event in order if event.what == "optimizer" and _takes(event, cls)]
        built = built or bool(mine)
        if mine and any(event.what == "forward" for event in order[: order.index(mine[0])]):
            return False
    return built


def _takes(event: Event, cls: Class) -> bool:
    calls = (one for one in ast.walk(event.node) if isinstance(one, ast.Call) and follow.method(one) == "parameters")
    return any(value.name == cls.qualified for one in calls for value in event.source.values(tree.receiver(one)))


def _own_layer(event: Event) -> bool:
    """A module that calls its own layers: `self.proj(x)`."""
    return event.what == "forward" and event.expr is not None and tree.dotted(event.expr).startswith("self.")


def _used_here(source: Source, call: ast.Call) -> bool:
    """Called at once, or kept in a local name; what goes into `self.x` may be kept under `if self.x is None`."""
    up = source.parents[call]
    while isinstance(up, ast.Attribute) or (isinstance(up, ast.Call) and isinstance(up.func, ast.Attribute)):
        up = source.parents[up]
    if isinstance(up, ast.Call):
        return True
    if not isinstance(up, ast.Assign) or not _named(up):
        return False
    names = {tree.dotted(target) for target in up.targets}
    return not any(isinstance(one, ast.Name) and one.id in names for one in _kept(tree.function(source, call)))


def _kept(home: tree.FunctionNode | None) -> Iterator[ast.expr]:
    """What a function assigns as it is: `self.table = wider`."""
    for node in tree.body_nodes(home) if home is not None else ():
        if isinstance(node, ast.Assign):
            yield from node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
