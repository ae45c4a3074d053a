"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import flow, frameworks, tree, uses
from torchlore.check.source import Hit, Source

_LOOKS = {"get_last_lr", "get_lr", "state_dict", "load_state_dict", "last_epoch", "base_lrs"}


def find(source: Source) -> Iterator[Hit]:
    if "lr_scheduler" not in source.text or not any(source.methods("backward")) or not flow.may_train(source):
        return
    for call, _ in uses.calls_under(source, "torch.optim.lr_scheduler."):
        held = source.parents[call]
        target = held.targets[0] if isinstance(held, ast.Assign) and len(held.targets) == 1 else None
        if target is None or not tree.dotted(target) or frameworks.owned(source, call) or not _trains(source, call):
            continue
        given = tree.argument(call, 0, "optimizer")
        if given is None or _has_another(source, call, given):
            continue
        if not any(_steps(source, use) for use in _reads(source, target)):
            name = source.code(target)
            yield source.hit(held, f"`{name}` is never stepped, so the rate stays as it is: call `{name}.step()`")


def _has_another(source: Source, call: ast.Call, given: ast.expr) -> bool:
    """Whether a second scheduler is built on the same optimizer: one of them may drive the other."""
    others = (
        one
        for one, _ in uses.calls_under(source, "torch.optim.lr_scheduler.")
        if one is not call and tree.function(source, one) is tree.function(source, call)
    )
    return any(
        source.code(first) == source.code(given) for one in others if (first := tree.argument(one, 0, "optimizer"))
    )


def _trains(source: Source, call: ast.Call) -> bool:
    """Whether a backward pass runs beside it: in its function, its class or, for a plain script, the file."""
    home = tree.class_of(source, call) or tree.function(source, call)
    return home is None or any(tree.inside(source, one, home) for one in source.methods("backward"))


def _reads(source: Source, target: ast.expr) -> list[ast.expr]:
    """Every place where the variable or the attribute is read."""
    if isinstance(target, ast.Name):
        home = tree.function(source, target)
        found: list[ast.expr] = [
            one for one in uses.names(source, target.id) if home is None or tree.inside(source, one, home)
        ]
    else:
        found = list(uses.attributes(source, tree.dotted(target).rpartition(".")[2]))
    return [one for one in found if isinstance(getattr(one, "ctx", None), ast.Load)]


def _steps(source: Source, use: ast.expr) -> bool:
    """Whether this reading steps it, or hands it to somebody who may."""
    up = source.parents[use]
    return not (isinstance(up, ast.Attribute) and up.attr in _LOOKS)
