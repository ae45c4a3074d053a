"""The rule of copy-is-the-same-module."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from torchlore.check import calls, edits, flow, follow, scopes, tree, uses, values
from torchlore.check.pattern import regex
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_SECOND = regex(r"(^|_)(target|tgt|teacher|ema|momentum|old|best|frozen|ref|reference|prev|previous|shadow|backup|copy|clone|snapshot|init|initial)(_|$|\d)", re.IGNORECASE)  # fmt: skip

_SAME = {"to", "cuda", "eval", "train", "requires_grad_"}
WORDS = ("ModuleList|Sequential|copy|backward|step",)


def find(source: Source) -> Iterator[Hit]:
    yield from (*_twice(source), *_shallow(source))
    if not any(source.methods("backward", "step")):
        return
    for assign, target, given in _pairs(source):
        last = target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""
        if not _is_second(last):
            continue
        shallow = isinstance(given, ast.Call) and source.name(given.func) == "copy.copy"
        inner = given.args[0] if isinstance(given, ast.Call) and shallow and given.args else given
        inner = _itself(inner)
        if not isinstance(target, ast.Name | ast.Attribute) or not isinstance(inner, ast.Name | ast.Attribute):
            continue
        name, other = source.code(target), source.code(inner)
        if any(map(_SECOND.search, other.split("."))):
            continue  # a part of what is itself a copy
        if isinstance(target, ast.Name) and _used_at_once(source, assign, target):
            continue
        if _new_each_turn(source, assign, inner):
            continue
        if not _both_live(source, assign, target, inner) or not values.sure(source, inner, "module"):
            continue
        if not _chosen(source, assign, name) and (isinstance(target, ast.Attribute) or _trains_on(source, assign)):
            edit = edits.replace(source, given if shallow else inner, f"copy.deepcopy({other})")
            imported = edits.add_import(source, "import copy")
            message = f"`{name}` is `{other}` itself and learns with it: write `copy.deepcopy({other})`"
            fix = [edit, *([imported] if imported else [])]
            yield source.hit(assign, message, *fix, severity="warning")  # a name that says "target" may mean another


@lru_cache(maxsize=8192)
def _is_second(name: str) -> bool:
    """Whether a name says that it holds another one's copy."""
    return _SECOND.search(name) is not None


def _shallow(source: Source) -> Iterator[Hit]:
    """`rival = copy.copy(net)`, and then `rival` is trained: the weights are those of `net`."""
    for call in source.calls("copy.copy"):
        held, net = source.parents[call], call.args[0] if call.args else None
        name = held.targets[0] if isinstance(held, ast.Assign) and held.value is call else None
        if not isinstance(name, ast.Name) or not isinstance(net, ast.Name | ast.Attribute) or _SECOND.search(name.id):
            continue
        same = [one for one in uses.names(source, name.id) if tree.function(source, one) is tree.function(source, call)]
        later = [one for one in same if isinstance(one.ctx, ast.Load) and one.lineno > call.lineno]
        if values.sure(source, net, "module") and any(_is_trained(source, one) for one in later):
            told = f"`copy.copy` takes the weights of `{source.code(net)}` along, so training `{name.id}` trains both: write `copy.deepcopy`"
            yield source.hit(call, told, severity="warning")


def _is_trained(source: Source, use: ast.Name) -> bool:
    """`optim.SGD(use.parameters())`, `use.load_state_dict(...)`, or given to a function that does so."""
    up = source.parents[use]
    if isinstance(up, ast.Attribute):
        made = [one for one in tree.ancestors(source, use) if isinstance(one, ast.Call)]
        return up.attr == "load_state_dict" or (
            up.attr == "parameters" and any(source.name(one.func).startswith("torch.optim.") for one in made)
        )
    inner = flow.called(source, up) if isinstance(up, ast.Call) and use in up.args else None
    if inner is None or inner.source is not source or not isinstance(up, ast.Call):
        return False
    taken = tree.parameters(inner.node)[1 if inner.owner is not None else 0 :]
    place = up.args.index(use)
    name = taken[place].arg if place < len(taken) else ""
    reads = (one for one in tree.under(source, inner.node, ast.Name) if one.id == name)
    return any(isinstance(source.parents[one], ast.Attribute) and _is_trained(source, one) for one in reads)


def _pairs(source: Source) -> Iterator[tuple[ast.Assign, ast.expr, ast.expr]]:
    """What is given to which name, also in `best, best_model = score, model`."""
    for assign in source.all(ast.Assign):
        target, given = assign.targets[0], assign.value
        if isinstance(target, ast.Tuple) and isinstance(given, ast.Tuple) and len(target.elts) == len(given.elts):
            yield from ((assign, one, other) for one, other in zip(target.elts, given.elts, strict=True))
        else:
            yield assign, target, given


def _chosen(source: Source, assign: ast.Assign, name: str) -> bool:
    """Whether another branch makes a second one, so that here the author wants none, or a copy takes its place further down."""
    others = [one for one in source.all(ast.Assign) if one is not assign and source.code(one.targets[0]) == name]
    if any(isinstance(one.value, ast.Subscript | ast.Attribute) and _begins(one.value, name) for one in others):
        return True  # `prev = prev._modules[layer]`: it goes down the tree, layer by layer
    made = [one for one in others if isinstance(one.value, ast.Call)]
    copied = (one for one in made if source.name(one.value.func) == "copy.deepcopy" and one.lineno > assign.lineno)  # type: ignore[attr-defined]  # a call
    replaced = any(tree.function(source, one) is tree.function(source, assign) for one in copied)
    later = [] if tree.loops(source, assign) else [one for one in source.all(ast.Assign) if one.lineno > assign.lineno]
    again = any(tree.loops(source, one) and ast.dump(one) == ast.dump(assign) for one in later)  # that one is told
    return replaced or again or any(follow.exclusive(source, one, assign) for one in made)


def _new_each_turn(source: Source, assign: ast.Assign, inner: ast.expr) -> bool:
    """`model, score = fit(width)` further up in the same turn: the next turn makes another one, and leaves this as it is."""
    around = tree.loops(source, assign)
    return bool(around) and isinstance(inner, ast.Name) and _made_in(source, inner, around[0])


def _made_in(source: Source, name: ast.Name, loop: ast.AST, hops: int = 4) -> bool:
    """Whether each turn of a loop makes a name anew by a call, also by `net = Net(); net = fit(net)`."""
    bound = scopes.reaching(source, name) if hops else []
    made = [one.value for one in bound if one.how == "assign" and tree.inside(source, one.statement, loop)]
    again = [one for value in made if value is not None for one in tree.under(source, value, ast.Name)]
    new = all(one.id != name.id or _made_in(source, one, loop, hops - 1) for one in again)
    return bool(made) and len(made) == len(bound) and all(isinstance(one, ast.Call) for one in made) and new


def _used_at_once(source: Source, assign: ast.Assign, target: ast.Name) -> bool:
    """`if better: best = net; torch.save(best.state_dict(), path)`: nobody looks at it later."""
    block, home = source.parents[assign], tree.function(source, assign)
    same = [one for one in uses.names(source, target.id) if tree.function(source, one) is home]
    reads = [one for one in same if isinstance(one.ctx, ast.Load)]
    return isinstance(block, ast.If) and all(tree.inside(source, one, block) for one in reads)


def _begins(node: ast.expr, name: str) -> bool:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == name


def _trains_on(source: Source, assign: ast.Assign) -> bool:
    """Whether something is trained after the assignment: further down, in the loop around it, or by who calls this."""
    events = flow.events_of(source, tree.function(source, assign))
    trained = [event for event in events if event.what in ("backward", "step", "zero_grad")]
    after = any(event.at.lineno > assign.lineno for event in trained)  # type: ignore[attr-defined]  # a call
    return after or bool(tree.loops(source, assign)) or not trained


_BOXES = ("torch.nn.ModuleList", "torch.nn.Sequential")


def _twice(source: Source) -> Iterator[Hit]:
    """One list of layers that two attributes of a module hold."""
    first: dict[ast.AST, ast.Assign] = {}
    for call in source.calls(*_BOXES):
        held, given = source.parents[call], call.args[0] if len(call.args) == 1 else None
        given = given.value if isinstance(given, ast.Starred) else given
        if (
            not isinstance(held, ast.Assign)
            or not tree.dotted(held.targets[0]).startswith("self.")
            or not isinstance(given, ast.Name)
        ):
            continue
        bound = scopes.reaching(source, given)
        made = bound[0].value if len(bound) == 1 and bound[0].how == "assign" and not bound[0].path else None
        if not isinstance(made, ast.List | ast.ListComp) or tree.loops(source, call):
            continue
        earlier = first.setdefault(bound[0].node, held)
        if earlier is not held and source.code(earlier.targets[0]) != source.code(held.targets[0]):
            one, other = source.code(held.targets[0]), source.code(earlier.targets[0])
            yield source.hit(
                held,
                f"`{one}` holds the very layers of `{other}`, with one set of weights: write `copy.deepcopy({given.id})`",
            )


def _both_live(source: Source, assign: ast.Assign, target: ast.expr, inner: ast.expr) -> bool:
    """Whether both names are used after this, and the file trains something."""
    if isinstance(source.parents[assign], ast.ClassDef) or _replaced(source, assign, inner):
        return False

    def used(node: ast.expr) -> bool:
        last = source.code(node).rpartition(".")[2]
        seen: list[ast.Name | ast.Attribute] = [*uses.names(source, last), *uses.attributes(source, last)]
        later = (
            use for use in seen if isinstance(use.ctx, ast.Load) and use is not node and _after(source, use, assign)
        )
        return any(not follow.exclusive(source, use, assign) for use in later)

    beside = _held_beside(source, assign, inner)
    kept_on = used(inner) or any(map(used, beside)) or _averaged(source, assign, target)
    return used(target) and (kept_on or _handed_each_turn(source, assign, inner))


def _handed_each_turn(source: Source, assign: ast.Assign, inner: ast.expr) -> bool:
    """`keeper.offer(score, net)` in a loop that trains one net: the method keeps what goes on learning."""
    home = tree.function(source, assign)
    mine = [one for one in tree.parameters(home) if tree.dotted(inner) == one.arg] if home is not None else []
    function = as_function(source, home) if home is not None and mine else None
    for other, call, skip in calls.callers(function) if function is not None else ():
        given = calls.given_argument(function, call, mine[0], skip)  # type: ignore[arg-type]  # there is one
        loop = next(iter(tree.loops(other, call)), None)
        if isinstance(given, ast.Name) and loop is not None and _trained_in(other, loop, given.id):
            return True
    return False


def _trained_in(source: Source, loop: ast.AST, name: str) -> bool:
    """Whether a loop trains a net that was made before it, itself or in a function that it gives the net to."""
    nets = [one for one in tree.under(source, loop, ast.Name) if one.id == name]
    if not all(isinstance(one.ctx, ast.Load) for one in nets):
        return False
    taken = [up for one in nets if isinstance(up := source.parents[one], ast.Call) and up.func is not one]
    inner = [flow.called(source, one) for one in taken]
    return ".step(" in source.code(loop) or any(
        one is not None and ".step(" in one.source.code(one.node) for one in inner
    )


def _averaged(source: Source, assign: ast.Assign, target: ast.expr) -> bool:
    """`zip(self.ema.parameters(), model.parameters())` in another method: it is to follow the other, and is it."""
    owner, held = tree.class_of(source, assign), tree.dotted(target)
    pairs = [one for one in source.calls("zip") if len(one.args) == 2 and owner is tree.class_of(source, one)]
    sides = [[tree.dotted(tree.receiver(side)) for side in one.args if isinstance(side, ast.Call)] for one in pairs]
    return held.startswith("self.") and any(held in both and len({*both}) == 2 for both in sides)


def _held_beside(source: Source, assign: ast.Assign, inner: ast.expr) -> list[ast.expr]:
    """`self.net` of `self.net = model.to(device)`, further up, where the same `model` is given to a second name."""
    home, code = tree.function(source, assign), source.code(inner)
    others = (one for one in source.all(ast.Assign) if one is not assign and tree.function(source, one) is home)
    return [
        one.targets[0]
        for one in others
        if isinstance(one.targets[0], ast.Attribute)
        and source.code(_itself(one.value)) == code
        and not follow.exclusive(source, one, assign)
    ]


def _itself(node: ast.expr) -> ast.expr:
    """`model` of `model.to(device).eval()`: a module gives itself back."""
    while isinstance(node, ast.Call) and follow.method(node) in _SAME:
        node = tree.receiver(node)
    return node


def _replaced(source: Source, assign: ast.Assign, inner: ast.expr) -> bool:
    """`old = net.fc; net.fc = new`: the first name holds what was there before."""
    home, code = tree.function(source, assign), source.code(inner)
    others = (
        one for one in source.all(ast.Assign) if one.lineno > assign.lineno and source.code(one.targets[0]) == code
    )
    return isinstance(inner, ast.Attribute) and any(tree.function(source, one) is home for one in others)


def _after(source: Source, use: ast.expr, assign: ast.Assign) -> bool:
    home = tree.function(source, assign)
    if tree.function(source, use) is not home:
        return isinstance(use, ast.Attribute) or home is None
    return use.lineno > assign.lineno or bool(tree.loops(source, assign))
