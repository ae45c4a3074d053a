"""What is set free behind an optimizer that took only what was trainable then."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlore.check import api, calls, follow, frameworks, tree, uses
from torchlore.check.project import as_function

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlore.check.source import Source

_WALKS = ("parameters", "named_parameters")


def too_late(source: Source) -> Iterator[tuple[ast.AST, str]]:
    """Where a part is set free that was frozen when the only optimizer took what was trainable, and how that was built."""
    if "requires_grad" not in source.text:
        return
    made = [call for call, full in uses.calls_under(source, "torch.optim.") if api.kind_of_call(full) == "optimizer"]
    homes = [tree.home(source, call) for call in made]
    switches = [*_switches(source)] if made else []
    frozen = {what for _, what, on in switches if not on} | {*_by_makers(source, switches)}
    for call, home in zip(made, homes, strict=True) if any(on for _, _, on in switches) else ():
        text = source.text if isinstance(home, ast.Module) else source.code(home)
        alone = homes.count(home) == 1 and not tree.loops(source, call) and "add_param_group" not in text
        chosen = alone and bool(call.args) and _by_flag(source, call.args[0])
        for node, what, on in switches if alone and call.args else ():
            left_out = on and (chosen or _of_other_part(call.args[0], what))
            place = _afterwards(source, node, call) if left_out and _was_frozen(what, frozen) else None
            if place is node and isinstance(node, ast.Call) and tree.loops(source, node):
                continue  # `optimizer-before-model-change` speaks of it
            if (
                place is not None
                and not frameworks.owned(source, place)
                and not _built_anew(source, place, homes, home)
            ):
                asked = [] if node is place else tree.conditions(source, node)  # `thaw(epoch)` decides by itself
                yield node if asked else place, "of the trainable parameters" if chosen else "without it"
                break


def _built_anew(source: Source, place: ast.AST, homes: list[ast.AST], home: ast.AST) -> bool:
    """Whether a function that makes another optimizer is called below: `optimizer = make_optimizer(model)`."""
    makers = [one for one in homes if one is not home and isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    sites = (site for one in dict.fromkeys(makers) for site in calls.callers(as_function(source, one)))
    here, line = tree.function(source, place), getattr(place, "lineno", 0)
    return any(at is source and tree.function(source, call) is here and call.lineno > line for at, call, _ in sites)


def _by_makers(source: Source, switches: list[tuple[ast.AST, str, bool]]) -> Iterator[str]:
    """`model.features` where `model = build()`, whose `build` freezes `net.features` and gives `net` back."""
    for node, what, on in switches:
        home = tree.function(source, node) if not on else None
        made = as_function(source, home) if home is not None else None
        root, _, rest = what.partition(".")
        if made is None or root not in {tree.dotted(one) for one in calls.returned(made)}:
            continue
        for caller, call, _ in calls.callers(made):
            held = caller.parents[call]
            name = tree.dotted(held.targets[0]) if caller is source and isinstance(held, ast.Assign) else ""
            if name:
                yield f"{name}.{rest}" if rest else name


def _by_flag(source: Source, given: ast.expr) -> bool:
    """`filter(lambda p: p.requires_grad, ...)`, `[p for p in ... if p.requires_grad]`, also behind a name."""
    whole = follow.followed(source, given)
    return any(isinstance(one, ast.Attribute) and one.attr == "requires_grad" for one in ast.walk(whole))


def _of_other_part(given: ast.expr, what: str) -> bool:
    """`Adam(model.fc.parameters())` beside `model.layer4`."""
    part = (
        tree.dotted(tree.receiver(given))
        if isinstance(given, ast.Call) and follow.method(given) == "parameters"
        else ""
    )
    apart = not f"{what}.".startswith(f"{part}.") and not f"{part}.".startswith(f"{what}.")
    return "." in part.removeprefix("self.") and apart and part.rpartition(".")[0] == what.rpartition(".")[0]


def _switches(source: Source) -> Iterator[tuple[ast.AST, str, bool]]:
    """Each place where a part's flag is set to a constant: the node, the part, and what it is set to."""
    for use in uses.attributes(source, "requires_grad"):
        statement = source.parents[use]
        flag = tree.literal(statement.value) if isinstance(statement, ast.Assign) else None
        loop = next(iter(tree.loops(source, use)), None)
        over = loop.iter if isinstance(loop, ast.For) and follow.method(loop.iter) in _WALKS else None
        if isinstance(flag, bool) and isinstance(over, ast.Call) and not _picked(source, use, loop):
            yield statement, tree.dotted(tree.receiver(over)), flag
    for call in source.methods("requires_grad_"):
        flag = tree.literal(call.args[0]) if call.args else True
        part = tree.receiver(call)
        if isinstance(flag, bool) and tree.dotted(part) and isinstance(part, ast.Attribute):
            yield call, tree.dotted(part), flag


def _picked(source: Source, node: ast.AST, loop: ast.AST | None) -> bool:
    """Whether an `if` in the loop chooses among the parameters."""
    return loop is None or follow.seldom(source, node, loop)


def _was_frozen(what: str, frozen: set[str]) -> bool:
    """Whether this part, a part of it, or the whole was frozen; `self.backbone` in a method and `model.backbone` are one."""
    own = what.removeprefix("self.")
    others = {one.removeprefix("self.") for one in frozen} - {"self", ""}
    return (not what and "" in frozen) or any(  # net[0], both times
        one == own or one.startswith(f"{own}.") or one.endswith(f".{own}") or own.startswith(f"{one}.")
        for one in others
    )


def _afterwards(source: Source, node: ast.AST, made: ast.Call) -> ast.AST | None:
    """Where it happens after the optimizer was built: the statement itself, or the call of the function it stands in."""
    home, built = tree.function(source, node), tree.function(source, made)
    if home is built:
        return node if getattr(node, "lineno", 0) > made.lineno else None
    for caller, call, _ in calls.callers(as_function(source, home)) if home is not None else ():
        at = tree.function(source, call) if caller is source else None
        if caller is source and at is built and call.lineno > made.lineno:
            return call
        method = at is not None and built is not None and built.name == "__init__" and at.name != "__init__"
        if method and at is not None and built is not None:
            one, other = tree.method_class(source, at), tree.method_class(source, built)
            if one is other is not None:
                return call
    return None
