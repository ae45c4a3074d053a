"""The rule of steps-in-evaluation."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, flow, frameworks, iteration, tree
from torchlore.check.events import Event
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_HELD_OUT = re.compile(
    r"(^|_)(val|valid|validation|dev|eval|holdout|held_out)(_|$|loader|set|data|dl|iter)", re.IGNORECASE
)
_ON_PURPOSE = re.compile(r"adapt|tun(e|ing)|search|meta|arch|inner|support", re.IGNORECASE)
_SWITCH = re.compile(r"^(is_?|do_?)?(train|training)(_?mode|_?flag)?$|^(phase|mode|split)$", re.IGNORECASE)

WORDS = ("backward|manual_backward", "step")


def find(source: Source) -> Iterator[Hit]:
    for loop in flow.training_loops(source):
        steps = [one for one in loop.direct("step") if one.source is source]
        back = [one for one in loop.direct("backward") if one.source is source and one.at is one.node]
        if not steps or not back or not isinstance(loop.node, ast.For) or frameworks.owned(source, loop.node):
            continue
        told = (
            _of_phases(source, loop.node, back[0])
            or _held_out(source, loop, steps)
            or _of_switch(source, loop, back[0])
        )
        if told and not _ON_PURPOSE.search(source.code(loop.node)):
            yield source.hit(back[0].at, f"{told}, so the network learns what it is judged by: step in training only")


def _of_phases(source: Source, loop: ast.For, back: Event) -> str:
    """`for phase in ("train", "val"):` around it, and no condition asks for the phase."""
    for outer in tree.loops(source, loop):
        names = tree.literal(outer.iter) if isinstance(outer, ast.For) and isinstance(outer.target, ast.Name) else None
        if not isinstance(names, tuple | list) or not all(isinstance(one, str) for one in names):
            continue
        held = [one for one in names if _HELD_OUT.search(one)]
        if held and any("train" in one for one in names) and not _asked(source, back, loop):
            return f'this runs in the phase "{held[0]}" as well'
    return ""


def _asked(source: Source, back: Event, loop: ast.For) -> bool:
    """Whether something between the loop and the backward pass depends on a condition, or one ends the turn before it."""
    if any(tree.inside(source, test, loop) for test, _ in tree.conditions(source, back.at)):
        return True
    leaves = tree.under(source, loop, ast.Continue, ast.Break, ast.Return)
    return any(one.lineno < getattr(back.at, "lineno", 0) for one in leaves)


def _held_out(source: Source, loop: flow.LoopFlow, steps: list[Event]) -> str:
    """A loop over `val_loader` that steps the optimizer which a loop over another loader steps as well."""
    over = tree.dotted(iteration.unwrapped(source, loop.node.iter)) if isinstance(loop.node, ast.For) else ""
    home = loop.function.name if loop.function is not None else ""
    if not _HELD_OUT.search(over.rpartition(".")[2]) or "train" in over.lower() or _ON_PURPOSE.search(home):
        return ""
    for other in flow.training_loops(source):
        apart = isinstance(other.node, ast.For) and other.node is not loop.node
        name = (
            tree.dotted(iteration.unwrapped(source, other.node.iter))
            if isinstance(other.node, ast.For) and apart
            else ""
        )
        if "train" in name and any(flow.same_object(one, two) for one in steps for two in other.direct("step")):
            return f"the optimizer steps on the batches of `{over}` too"
    return ""


def _of_switch(source: Source, loop: flow.LoopFlow, back: Event) -> str:
    """`def run(loader, training)` that asks for `training` where it calls `train()` or `eval()` and steps in any case."""
    home = loop.function
    switches = [one for one in tree.parameters(home) if _SWITCH.match(one.arg)] if home is not None else []
    if home is None or len(switches) != 1 or not isinstance(loop.node, ast.For) or _asked(source, back, loop.node):
        return ""
    name = switches[0].arg
    if any(name in source.code(test) for test, _ in tree.conditions(source, loop.node)):
        return ""
    modes = {one.attr for one in tree.under(source, home, ast.Attribute) if one.attr in ("train", "eval")}
    tests = [one.test for one in tree.under(source, home, ast.If)] + [
        one.test for one in tree.under(source, home, ast.IfExp)
    ]
    asked = any(name in source.code(one) for one in tests)
    function = as_function(source, home)
    given = [calls.given_argument(function, call, switches[0], skip) for _, call, skip in calls.callers(function)]
    off = [one for one in given if one is not None and (tree.literal(one) is False or _is_held_out(one))]
    return f"this runs with `{name}={source.code(off[0])}` as well" if off and asked and "eval" in modes else ""


def _is_held_out(node: ast.expr) -> bool:
    word = tree.literal(node)
    return isinstance(word, str) and _HELD_OUT.search(word) is not None
