"""The rule of seed-in-training-loop."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, classes, flow, follow, frameworks, tree, uses
from torchlore.check.project import Class, as_function, enclosing_class
from torchlore.check.source import Hit, Source

WORDS = ("manual_seed|seed", "manual_seed|__getitem__")


def find(source: Source) -> Iterator[Hit]:
    yield from _in_items(source)
    seeds = [*source.calls("torch.manual_seed"), *_helpers(source)]
    asked = seeds or ("Generator(" in source.text and any(source.methods("manual_seed")))
    for loop in flow.backward_loops(source) if asked and flow.may_train(source) else []:
        if frameworks.owned(source, loop.node) or loop.of("model", "optimizer"):
            continue
        yield from _same_order(source, loop.node) if "Generator(" in source.text else ()
        for call in seeds:
            inside = tree.loops(source, call)
            if not inside and _seeds_each_turn(source, call, loop.node):
                told = "every turn of the loop that calls this draws the same random numbers again: seed once, before the loop"
                yield source.hit(call, told)
            if inside and inside[0] is loop.node and _constant(source, call, loop.node) and _before(loop, call):
                message = "the same random numbers are drawn again in every turn of this loop: seed once, before it"
                yield source.hit(call, message)


def _same_order(source: Source, loop: ast.AST) -> Iterator[Hit]:
    """`loader = make(data, seed)` in the loop over epochs, where `make` seeds a generator and shuffles with it."""
    for made in source.calls("torch.utils.data.DataLoader"):
        given, home = tree.argument(made, None, "generator"), tree.function(source, made)
        shuffles = tree.literal(tree.argument(made, 2, "shuffle")) is True
        if home is None or not isinstance(given, ast.Name) or not shuffles or tree.inside(source, loop, home):
            continue
        fresh = follow.followed(source, given)
        seeds = [one for one in source.methods("manual_seed") if tree.function(source, one) is home and one.args]
        mine = [one for one in seeds if tree.dotted(tree.receiver(one)) == given.id or one is fresh]
        anew = isinstance(fresh, ast.Call) and (source.name(fresh.func) == "torch.Generator" or fresh in mine)
        varied = [one for one in mine if not isinstance(one.args[0], ast.Name | ast.Constant)]
        for other, call, _ in calls.callers(as_function(source, home)) if anew and mine and not varied else ():
            here = other is source and tree.loops(source, call)[:1] == [loop]
            if here and _constant(source, call, loop):
                told = "this makes the loader anew with the same seed, so every epoch has the same order: make it once, before the loop"
                yield source.hit(call, told)


def _seeds_each_turn(source: Source, call: ast.Call, loop: ast.AST) -> bool:
    """Whether the loop calls the function around this, which then trains, and the seed stays the same."""
    home = tree.function(source, call)
    if home is None or tree.conditions(source, call) or any(isinstance(one, ast.Call) for one in call.args):
        return False
    function = as_function(source, home)
    turns = [(one, skip) for other, one, skip in calls.callers(function)
             if other is source and tree.loops(source, one)[:1] == [loop]]  # fmt: skip
    if not turns:
        return False
    trains = any(one.lineno > call.lineno and tree.function(source, one) is home for one in source.methods("backward"))
    bound = {one.id for one in ast.walk(loop) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    names = {one.id for arg in call.args for one in ast.walk(arg) if isinstance(one, ast.Name)}
    for arg in (one for one in tree.parameters(home) if one.arg in names):
        given = (calls.given_argument(function, one, arg, skip) for one, skip in turns)
        names |= {part.id for one in given if one is not None for part in ast.walk(one) if isinstance(part, ast.Name)}
    whole_run = any(tree.function(source, one) is home for one, _ in uses.calls_under(source, "torch.optim."))
    local = {one.id for one in tree.under(source, home, ast.Name) if isinstance(one.ctx, ast.Store)}
    return trains and not whole_run and bool(call.args) and not names & (bound | local)


def _in_items(source: Source) -> Iterator[Hit]:
    """A seed that is the same for every item, set while the items of a dataset are made."""
    for call in source.calls("torch.manual_seed", "numpy.random.seed", "random.seed"):
        home = tree.function(source, call)
        owner = enclosing_class(source, call)
        item = home is not None and home.name == "__getitem__" and owner is not None
        if not item or home is None or owner is None or tree.conditions(source, call) or not call.args:
            continue
        held_out = re.search(r"val|test|eval", owner.node.name.lower())
        if not held_out and _stays(owner, call.args[0]):
            told = "every item draws the same random numbers, in every epoch, and the whole program is seeded again with each: seed once, at the start"
            yield source.hit(call, told)


def _stays(owner: Class, seed: ast.expr) -> bool:
    """Whether it is a number, or an attribute that nobody changes after `__init__`."""
    if isinstance(tree.literal(seed), int):
        return True
    name = tree.dotted(seed)
    found = classes.assigned(owner, name[5:]) if name.startswith("self.") and name.count(".") == 1 else []
    stored = [one for one in uses.attributes(owner.source, name[5:]) if isinstance(one.ctx, ast.Store)]
    mine = owner.node
    changed = [one for one in stored if tree.dotted(one.value) != "self" or tree.class_of(owner.source, one) is mine]
    return len(found) == 1 and found[0].method == "__init__" and len(changed) == 1


def _helpers(source: Source) -> list[ast.Call]:
    """Calls of functions of this file that seed torch: always, or because they are given a seed."""
    seeds = [
        (home, call) for call in source.calls("torch.manual_seed") if (home := tree.function(source, call)) is not None
    ]
    found = []
    for home, seed in seeds:
        names = [one.arg for one in tree.parameters(home)]
        asked = tree.dotted(seed.args[0]) if seed.args and tree.conditions(source, seed) else ""
        for call in source.all(ast.Call):
            mine = isinstance(call.func, ast.Name) and call.func.id == home.name
            if mine and (asked not in names or tree.argument(call, names.index(asked), asked) is not None):
                found.append(call)
    return found


def _constant(source: Source, call: ast.Call, loop: ast.AST) -> bool:
    """Whether the seed stays the same in every turn: no argument is bound within the loop."""
    given = {one.id for arg in (*call.args, *(kw.value for kw in call.keywords)) for one in ast.walk(arg)
             if isinstance(one, ast.Name)}  # fmt: skip
    bound = {one.id for one in ast.walk(loop) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    calls = any(isinstance(one, ast.Call) for arg in call.args for one in ast.walk(arg))
    return not calls and not given & bound and not tree.conditions(source, call)


def _before(loop: flow.LoopFlow, call: ast.Call) -> bool:
    """Whether training follows, and not an evaluation that is meant to be repeatable."""
    later = [one for one in loop.events if one.at.lineno > call.lineno and one.what in ("backward", "eval")]  # type: ignore[attr-defined]  # events stand on statements and calls
    return bool(later) and later[0].what == "backward"
