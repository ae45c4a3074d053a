"""The rule of state-carried-into-shuffled-batches."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, tree, uses, values
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source

_LAYERS = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")


def find(source: Source) -> Iterator[Hit]:
    if not any(source.calls(*_LAYERS)):
        return
    loaders = source.calls("torch.utils.data.DataLoader")
    if not any(tree.literal(tree.argument(one, 2, "shuffle")) is True for one in loaders):
        return
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
    return bool(outside) or bool(called)
