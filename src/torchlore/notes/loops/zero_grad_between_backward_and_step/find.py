"""The rule of zero-grad-between-backward-and-step."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, flow, frameworks, tree, values
from torchlore.check.events import Event
from torchlore.check.source import Hit, Source

_KINDS = ("backward", "zero_grad", "step")
_GRADIENTS = re.compile(r"\.grad\b|hook|(?<!zero_)(?<!no_)(?<!clip_)grad(?!_norm|_value|ient_|_accum)\w*\(")

WORDS = ("backward", "zero_grad|grad")


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("backward")):
        return
    for loop in flow.training_loops(source):
        if frameworks.owned(source, loop.node):
            continue
        order = [event for event in loop.direct("backward", "zero_grad", "step") if event.detail != "closure"]
        yield from _thrown_away(source, order)
        inner = [event for event in loop.events if event.what in _KINDS]
        yield from _between_two(source, inner, loop.node) if inner == loop.direct(*_KINDS) else ()
    looped = {tree.function(source, loop.node) for loop in flow.training_loops(source)}
    for home in (one for one in flow.functions(source) if one not in looped and flow.trains(source, one)):
        straight = [one for one in flow.events_of(source, home) if one.what in _KINDS and one.detail != "closure"]
        if not any(event.loops for event in straight) and not frameworks.owned(source, home):  # `def step(batch):`
            yield from _between_two(source, straight, home)
            yield from _thrown_away(source, straight)


def _thrown_away(source: Source, order: list[Event]) -> Iterator[Hit]:
    """`loss.backward(); optimizer.zero_grad(); optimizer.step()`."""
    for backward, zero, step in zip(order, order[1:], order[2:], strict=False):
        if (backward.what, zero.what, step.what) != ("backward", "zero_grad", "step") or zero.source is not source:
            continue
        if not _same(zero, step, order) or zero.conditions != step.conditions or zero.detail == "manual":
            continue
        if tree.leaves_after(source, zero.node):
            continue  # a batch that is given up
        here = zero.at is zero.node and backward.at is backward.node and backward.source is source
        plain = here and zero.conditions == backward.conditions and tree.is_statement(source, zero.node)  # type: ignore[arg-type]  # a call
        fix = edits.move_before(source, zero.node, backward.node) if plain else ()
        code = source.code(zero.node)
        yield source.hit(
            zero.node,
            f"`{code}` throws the gradients away between backward() and step(): move it before the backward pass",
            *fix,
        )


def _between_two(source: Source, turn: list[Event], whole: ast.AST) -> Iterator[Hit]:
    """`a.backward(); optimizer.zero_grad(); b.backward(); optimizer.step()`: the step knows nothing of `a`."""
    one = len({event.owner for event in turn if event.what != "backward"}) == 1
    plain = all(event.source is source and not (event.conditions or event.via or event.no_grad) for event in turn)
    plain = (
        plain and len({tuple(event.contexts) for event in turn}) == 1
    )  # `with optimizer.record():` looks at gradients
    if not one or not plain or "closure" in {event.detail for event in turn} or _GRADIENTS.search(source.code(whole)):
        return
    order = "".join(event.what[0] for event in turn)
    for number in (found.start() + 1 for found in re.finditer("bz(?=b+s)", order)):
        told = "throws away what the backward pass before it gave, so the step knows the last loss alone"
        code = source.code(turn[number].node)
        yield source.hit(turn[number].node, f"`{code}` {told}: zero once, before the first of them", severity="warning")


def _same(zero: Event, step: Event, order: list[Event]) -> bool:
    """Whether it zeroes what is stepped: the same optimizer, or the model where there is one optimizer only."""
    if flow.same_object(zero, step):
        return True
    steps = {event.owner for event in order if event.what == "step"}
    zeroed = {event.owner for event in order if event.what == "zero_grad" and event.owner not in steps}
    model = zero.expr is not None and values.sure(zero.source, zero.expr, "module", weak=True)
    return model and len(steps) == len(zeroed) == 1 and not _part(zero)


def _part(zero: Event) -> bool:
    """`gan.generator.zero_grad()`: one part of a net, whose other parts keep their gradients."""
    whole = zero.expr.value if isinstance(zero.expr, ast.Attribute) else None
    return whole is not None and values.sure(zero.source, whole, "module", weak=True)
