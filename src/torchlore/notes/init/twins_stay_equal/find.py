"""What a file shows of it: a part and its copy, both trained, both given the same."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, classes, follow, project, tree, uses, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_OTHER = regex(
    r"targ|tgt|teacher|ema|momentum|old|best|frozen|ref|prev|shadow|backup|snapshot|init|slow|key|avg|aver|anchor|prior|student"
)
_CHANGES = {"apply", "load_state_dict", "requires_grad_", "reset_parameters", "eval", "copy_"}
WORDS = ("manual_seed|deepcopy",)


def find(source: Source) -> Iterator[Hit]:
    yield from _seeded(source)
    for call in source.calls("copy.deepcopy") if "torch.optim" in source.text or "optim." in source.text else ():
        held = source.parents[call]
        one = call.args[0] if call.args else None
        other = held.targets[0] if isinstance(held, ast.Assign) and held.value is call else None
        if not isinstance(one, ast.Name | ast.Attribute) or not isinstance(other, ast.Name | ast.Attribute):
            continue
        if _OTHER.search(_last(other).lower()) or source.code(one) == source.code(other):
            continue  # also a copy of its own for who was given it
        trained = _learns(source, one) and _learns(source, other) and values.sure(source, one, "module")
        if trained and not _changed(source, one, other) and _asked_alike(source, one, other):
            first, second = source.code(one), source.code(other)
            yield source.hit(
                call,
                f"`{second}` starts with the weights of `{first}` and learns from the same data, so both stay one net: build it anew",
            )


def _seeded(source: Source) -> Iterator[Hit]:
    """A constant seed where a member is made, by a function or by its class, and a comprehension that makes all of them."""
    for seed in _seeds(source):
        home = tree.function(source, seed)
        if home is None or not seed.args or tree.loops(source, seed):
            continue
        function = project.as_function(source, home)
        if not _makes_a_net(source, function):
            continue
        trained = function.owner is None and any(isinstance(one, ast.Name) for one in calls.returned(function))
        made = [
            call
            for other, call, skip in calls.callers(function)
            if _one_of_many(other, call, held=function.owner is not None, trained=trained)
            and isinstance(tree.literal(_given_seed(function, call, seed.args[0], skip)), int)
        ]
        if made:
            name = home.name if function.owner is None else function.owner.name
            told = f"every net that `{name}` makes starts with the same weights"
            if isinstance(tree.literal(seed.args[0]), int):
                yield source.hit(seed, f"{told}: seed once, before the first")
            elif made[0] in source.parents:
                yield source.hit(made[0], f"{told}: give each another seed")


def _one_of_many(source: Source, call: ast.Call, *, held: bool, trained: bool) -> bool:
    """Whether a comprehension makes it; `held`: and a ModuleList keeps all, so one loss trains them together.

    One that comes back `trained` is the same only where each is given the same, in a comprehension or by `members.append(train(x, y))`.
    """
    many = source.parents[call]
    if isinstance(many, ast.Call) and follow.method(many) == "append" and not held:
        loops = tree.loops(source, call)
        return bool(loops) and _given_the_same(source, call, loops[0])
    up = source.parents[many] if isinstance(many, ast.ListComp | ast.GeneratorExp) else None
    kept = isinstance(up, ast.Call) and source.name(up.func) == "torch.nn.ModuleList"
    return up is not None and (kept or not held) and (not trained or _given_the_same(source, call, many))


def _given_the_same(source: Source, call: ast.Call, many: ast.AST) -> bool:
    """Whether no argument of a call changes from turn to turn."""
    bound = {one.id for one in tree.under(source, many, ast.Name) if isinstance(one.ctx, ast.Store)}
    given = [one for arg in (*call.args, *(kw.value for kw in call.keywords)) for one in ast.walk(arg)]
    fresh = tree.spread(call) or any(isinstance(one, ast.Call | ast.Subscript) for one in given)
    return not fresh and not any(isinstance(one, ast.Name) and one.id in bound for one in given)


def _seeds(source: Source) -> Iterator[ast.Call]:
    """`torch.manual_seed(42)`, and `set_seed(42)` of a function of this file that hands its seed on."""
    for seed in source.calls("torch.manual_seed"):
        yield seed
        home = tree.function(source, seed)
        names = (
            [one.arg for one in tree.parameters(home)] if home is not None and not tree.conditions(source, seed) else []
        )
        if home is not None and len(names) == 1 and seed.args and tree.dotted(seed.args[0]) == names[0]:
            yield from (call for other, call, _ in calls.callers(project.as_function(source, home)) if other is source)


def _makes_a_net(source: Source, function: project.Function) -> bool:
    """Whether a function gives back nothing but nets, or is what a module is born by."""
    if function.owner is not None:
        born = function.node.name == "__init__"
        return born and classes.is_module(project.as_class(source, function.owner))
    back = calls.returned(function)
    return bool(back) and all(_made_here(source, one) for one in back)


def _made_here(source: Source, back: ast.expr) -> bool:
    """`return nn.Linear(2, 1)`, or of a name that holds such a call; what the function was given is not made by it."""
    made = follow.binding(source, back) if isinstance(back, ast.Name) else back
    return isinstance(made, ast.Call) and values.sure(source, made, "module")


def _given_seed(function: project.Function, call: ast.Call, seed: ast.expr, skip: int) -> ast.expr | None:
    """The seed of one call: as it is written, or what the call or the default gives to the parameter of this name."""
    named = [one for one in tree.parameters(function.node) if isinstance(seed, ast.Name) and one.arg == seed.id]
    if not named or tree.spread(call):
        return seed if not named else None
    return calls.given_argument(function, call, named[0], skip) or calls.default_of(function, named[0])


def _last(node: ast.expr) -> str:
    return tree.dotted(node).rpartition(".")[2]


def _uses(source: Source, node: ast.expr) -> list[ast.Name | ast.Attribute]:
    """Where the file reads it, by the last part of its name."""
    if isinstance(node, ast.Attribute):
        return [*uses.attributes(source, _last(node))]
    home = tree.function(source, node)
    return [one for one in uses.names(source, _last(node)) if home is None or tree.function(source, one) is home]


def _learns(source: Source, node: ast.expr) -> bool:
    """`optim.Adam(q.parameters())`, alone or in a list with others."""
    for use in _uses(source, node):
        up = source.parents[use]
        if isinstance(up, ast.Attribute) and up.attr in ("parameters", "named_parameters"):
            around = (one for one in tree.ancestors(source, use) if isinstance(one, ast.Call | ast.Assign))
            if any(_to_optimizer(source, one) for one in around):
                return True
    return False


def _to_optimizer(source: Source, node: ast.Call | ast.Assign) -> bool:
    if isinstance(node, ast.Call):
        return source.name(node.func).startswith("torch.optim.")
    name = tree.dotted(node.targets[0])  # params = [*one.parameters(), *other.parameters()]
    made = [one for one, _ in uses.calls_under(source, "torch.optim.") if one.args]
    return bool(name) and any(tree.dotted(one.args[0]) == name for one in made)


def _changed(source: Source, *nets: ast.expr) -> bool:
    """Whether one of the two gets other weights afterwards, or is frozen."""
    for net in nets:
        for use in _uses(source, net):
            up = source.parents[use]
            if isinstance(up, ast.Attribute) and up.attr in _CHANGES and up.attr != "eval":
                return True
            looped = isinstance(up, ast.Attribute) and up.attr in ("parameters", "modules", "named_parameters")
            if looped and any(isinstance(one, ast.For) for one in [source.parents[source.parents[up]]]):
                return True
    return any(_is_given(source, net) for net in nets)


def _is_given(source: Source, net: ast.expr) -> bool:
    """`start(q2)`: a function of the file may fill it anew."""
    for use in _uses(source, net):
        up = source.parents[use]
        if isinstance(up, ast.Call) and use in up.args and tree.is_statement(source, up):
            return True
    return False


def _asked_alike(source: Source, one: ast.expr, other: ast.expr) -> bool:
    """`q1(sa)` and `q2(sa)` in one function."""
    asked = [
        {(tree.function(source, call), tuple(map(ast.unparse, call.args))) for call in _runs(source, net)}
        for net in (one, other)
    ]
    return bool(asked[0] & asked[1])


def _runs(source: Source, net: ast.expr) -> Iterator[ast.Call]:
    for use in _uses(source, net):
        up = source.parents[use]
        if isinstance(up, ast.Call) and up.func is use and up.args and not follow.in_test(source, up):
            yield up
