"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import flow, follow, frameworks, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_LENGTHS = (
    ("CosineAnnealingLR", 1, "T_max"),
    ("OneCycleLR", 2, "total_steps"),
    ("OneCycleLR", 4, "steps_per_epoch"),
    ("LinearLR", 3, "total_iters"),
    ("PolynomialLR", 1, "total_iters"),
)

_TOTAL = regex(r"total|max_(steps|iters?)|training_steps|t_max|decay_steps", re.IGNORECASE)

WORDS = ("backward",)


def find(source: Source) -> Iterator[Hit]:
    if "%" not in source.text or not any(source.methods("backward")):
        return
    for loop in flow.backward_loops(source):
        yield from _planned_in_batches(source, loop)
        scheduled = [one for one in loop.direct("schedule") if not one.conditions and one.source is source]
        steps = [one for one in loop.direct("step") if one.detail != "closure"]
        if (
            not scheduled
            or not steps
            or frameworks.owned(source, loop.node)
            or bool(getattr(scheduled[0].node, "args", None))
        ):
            continue
        every = {code for one in steps for test, _ in one.conditions if (code := _count(source, test))}
        if len(every) != 1 or not all(one.conditions for one in steps):
            continue
        count = every.pop()
        if _divides(source, count, loop.function):
            name = source.code(scheduled[0].expr) if scheduled[0].expr is not None else "scheduler"
            yield source.hit(
                scheduled[0].node,
                f"the schedule counts updates, one in `{count}` batches, and `{name}` is stepped in every batch: step it with the optimizer",
            )


def _planned_in_batches(source: Source, loop: flow.LoopFlow) -> Iterator[Hit]:
    """`T_max=epochs * len(loader)` and a step in every k-th batch: the rate gets no further than a k-th of the way."""
    for event in loop.direct("schedule") if not frameworks.owned(source, loop.node) else ():
        count = _count(source, event.conditions[0][0]) if len(event.conditions) == 1 else ""
        made = source.values(event.expr) if event.expr is not None and event.source is source and count else ()
        call = made[0].node if len(made) == 1 and made[0].source is source else None
        together = [one for one in loop.direct("step") if one.conditions == event.conditions]
        if not together or not count or event.expr is None or _divides(source, count, loop.function):
            continue
        yield from _told_the_batches(source, event.expr, count)
        if not isinstance(call, ast.Call):
            continue
        kind = source.name(call.func).rpartition(".")[2]
        lengths = [tree.argument(call, place, word) for name, place, word in _LENGTHS if name == kind]
        told = [source.code(follow.followed(source, one)) for one in lengths if one is not None]
        if told and "len(" in told[0] and "load" in told[0] and "/" not in told[0] and ".dataset" not in told[0]:
            text = f"`{source.code(call)}` was planned in batches and is stepped once in `{count}` of them, so the rate stops half way"
            yield source.hit(call, f"{text}: divide its length by `{count}`", severity="warning")


def _told_the_batches(source: Source, scheduler: ast.expr, count: str) -> Iterator[Hit]:
    """`get_linear_schedule_with_warmup(optimizer, warmup, epochs * len(loader))`, of transformers or of the project."""
    call = follow.followed(source, scheduler)
    if not isinstance(call, ast.Call) or source.name(call.func).startswith("torch."):
        return
    inner = flow.called(source, call)
    named = [(one.arg or "", one.value) for one in call.keywords]
    if inner is not None:
        named += list(zip((one.arg for one in tree.parameters(inner.node)), call.args, strict=False))
    elif "schedule" in source.code(call.func):
        named += [("total", one) for one in call.args[2:3]]
    for word, given in named:
        made = source.code(follow.followed(source, given))
        if _TOTAL.search(word) and "len(" in made and "load" in made and "/" not in made and ".dataset" not in made:
            told = f"`{source.code(given)}` counts batches, and the schedule is stepped once in `{count}` of them, so the rate stops half way"
            yield source.hit(call, f"{told}: divide it by `{count}`", severity="warning")
            return


def _count(source: Source, test: ast.expr) -> str:
    """`k` of `(i + 1) % k == 0`."""
    test = follow.followed(source, test.operand if isinstance(test, ast.UnaryOp) else test)  # `if waits:`
    found = (one for one in ast.walk(test) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod))
    return next((source.code(one.right) for one in found), "")


def _divides(source: Source, count: str, home: ast.AST | None) -> bool:
    """Whether a number of batches is divided by the number that is accumulated, here or in a function that trains nothing."""
    word = count.rpartition(".")[2]
    trains = {tree.function(source, one) for one in source.methods("backward")} - {home}
    return any(
        isinstance(one.op, ast.Div | ast.FloorDiv)
        and source.code(one.right).rpartition(".")[2].strip(")") == word
        and ("len(" in source.code(one.left) or "step" in source.code(one.left))
        and not any("loss" in tree.dotted(part) for part in ast.walk(one.left))
        for one in source.all(ast.BinOp)
        if tree.function(source, one) not in trains
    )
