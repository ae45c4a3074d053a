"""The rule of state-carried-into-shuffled-batches."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, iteration, scopes, tree, uses, values
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source

_LAYERS = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")

WORDS = ("LSTM|GRU|RNN", "DataLoader")


def find(source: Source) -> Iterator[Hit]:
    if not any(source.calls(*_LAYERS)):
        return
    loaders = source.calls("torch.utils.data.DataLoader")
    if not any(tree.literal(tree.argument(one, 2, "shuffle")) is True for one in loaders):
        return
    yield from _in_the_loop(source)
    for cls in classes.all_classes(source):
        forward = classes.methods(cls).get("forward") if classes.is_module(cls) else None
        for call in tree.under(source, forward, ast.Call) if forward is not None else ():
            name = _kept(tree.argument(call, 1, "hx"))
            if not name or values.made_by(source, call.func, *_LAYERS) is None:
                continue
            stored = [
                one
                for one in classes.own_attributes(cls).get(name, ())
                if one.method == "forward" and _comes_from(source, one, call)
            ]
            if stored and not _renewed(source, cls, name, call):
                told = f"`self.{name}` carries the state of this batch into the next, and the loader is shuffled, so it is that of other sequences"
                yield source.hit(stored[-1].node, f"{told}: start each batch from zeros")


def _in_the_loop(source: Source) -> Iterator[Hit]:
    """`out, h = rnn(x, h)` in a loop over a shuffled loader, where nothing starts `h` anew."""
    for loop in source.all(ast.For):
        found = source.values(iteration.unwrapped(source, loop.iter))
        made = found[0].node if len(found) == 1 and found[0].kind == "loader" else None
        if not isinstance(made, ast.Call) or tree.literal(tree.argument(made, 2, "shuffle")) is not True:
            continue
        for assign in (one for one in tree.body_nodes(loop) if isinstance(one, ast.Assign)):
            call, target = assign.value, assign.targets[0]
            state = tree.argument(call, 1, "hx") if isinstance(call, ast.Call) else None
            given = (
                {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
                if isinstance(target, ast.Tuple)
                else set()
            )
            if not isinstance(call, ast.Call) or not isinstance(state, ast.Name) or state.id not in given:
                continue
            if values.sure(source, call.func, "module") and _carried(source, state, loop):
                told = f"`{state.id}` carries the state of this batch into the next, and the loader is shuffled, so it is that of other sequences"
                yield source.hit(call, f"{told}: start each batch from zeros")


def _carried(source: Source, state: ast.Name, loop: ast.For) -> bool:
    """Whether every value that the loop gives to the state is made of the state before."""
    inside = [one for one in scopes.reaching(source, state) if tree.inside(source, one.statement, loop)]
    again = [
        one.value is not None and state.id in {name.id for name in tree.under(source, one.value, ast.Name)}
        for one in inside
    ]
    return bool(again) and all(again)


def _kept(state: ast.expr | None) -> str:
    """`hidden` of `self.hidden`, `self.hidden.detach()`, `tuple(h.detach() for h in self.hidden)`."""
    found = [one for one in ast.walk(state) if isinstance(one, ast.Attribute)] if state is not None else []
    return next((one.attr for one in found if tree.dotted(one.value) == "self"), "")


def _comes_from(source: Source, one: classes.Attribute, call: ast.Call) -> bool:
    """Whether what is kept is what the layer gave back: at once, or by a name."""
    held = tree.statement(source, one.node)
    if tree.inside(source, call, held):
        return True
    target = tree.statement(source, call)
    given = (
        {tree.dotted(part) for part in ast.walk(target.targets[0]) if isinstance(part, ast.Name)}
        if isinstance(target, ast.Assign)
        else set()
    )
    used = {part.id for part in ast.walk(one.value) if isinstance(part, ast.Name)} if one.value is not None else set()
    return bool(given & used) and held.lineno >= call.lineno


def _renewed(source: Source, cls: Class, name: str, call: ast.Call) -> bool:
    """Whether somebody resets the state: in `forward` always, from outside, or by a method that others call."""
    own = classes.own_attributes(cls).get(name, ())
    for one in own:
        at = tree.statement(source, one.node)
        if one.method == "forward" and at.lineno < call.lineno and not tree.conditions(source, at):
            return True
    outside = [
        one
        for one in uses.attributes(source, name)
        if isinstance(one.ctx, ast.Store) and tree.dotted(one.value) != "self"
    ]
    resets = {one.method for one in own} - {"forward", "__init__", ""}
    called = [one for one in source.methods(*resets) if tree.class_of(source, one) is not cls.node] if resets else []
    return any(_each_batch(source, one) for one in (*outside, *called))


def _each_batch(source: Source, node: ast.AST) -> bool:
    """Whether this may run for every batch: it does not where a loop over batches follows it, as in an epoch."""
    around = next(iter(tree.loops(source, node)), None) or tree.function(source, node)
    later = tree.under(source, around, ast.For) if around is not None else source.all(ast.For)
    return not any(one.lineno > node.lineno and isinstance(one.target, ast.Tuple) for one in later)  # type: ignore[attr-defined]  # a use or a call
