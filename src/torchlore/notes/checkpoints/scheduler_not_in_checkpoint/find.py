"""The rule of scheduler-not-in-checkpoint."""

import ast
from collections.abc import Iterator

from torchlore.check import flow, follow, frameworks, saved, tree, uses, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_START = regex(r"(start|resume|begin|first)\w*epoch|epoch_?(start|begin)")
WORDS = ("save", "step")


def find(source: Source) -> Iterator[Hit]:
    saves = list(source.calls("torch.save"))
    for call in saves if any(source.methods("step")) else ():
        parts = saved.contents(source, call)
        said = any("sched" in f"{key} {source.code(expr)}".lower() for key, expr in parts.items)
        if said or not parts.whole or frameworks.owned(source, call):
            continue
        kept = [expr for _, expr in parts.items if values.sure(source, expr, "optimizer_state")]
        if not kept:
            continue
        owners = [tree.receiver(expr) for _, expr in parts.items if isinstance(expr, ast.Call)]
        if any(values.maybe(source, one, "scheduler") for one in owners):
            continue
        scheduler = _stepped(source, call)
        if scheduler and scheduler not in [source.code(one) for one in owners]:
            message = (
                f"the state of `{scheduler}` is not saved, so a resumed run starts its schedule again: add "
                f'`"scheduler": {scheduler}.state_dict()`'
            )
            best = len(call.args) > 1 and "best" in source.code(call.args[1]).lower()  # kept for its weights
            goes_on = any(word in key.lower() for key, _ in parts.items for word in ("epoch", "step", "iter"))
            elsewhere = any("sched" in source.code(expr).lower()
                            for one in saves for _, expr in saved.contents(source, one).items)  # fmt: skip
            sure = _resumes(source) and goes_on and not best and not elsewhere  # another file has it, and that is read
            yield source.hit(kept[-1], message, severity=None if sure else "hint")


def _resumes(source: Source) -> bool:
    """Whether somebody puts an optimizer's state back; else nobody is known to resume."""
    loads = (tree.receiver(one) for one in source.methods("load_state_dict"))
    return any(values.maybe(source, one, "optimizer", "scheduler", weak=True) for one in loads)


def _caught_up(source: Source) -> Iterator[str]:
    """Schedulers that a loop steps up to the epoch of the resumed run, and does nothing else, or that are told it once."""
    for loop in source.all(ast.For):
        steps = [one.value for one in loop.body if isinstance(one, ast.Expr)]
        if len(steps) == len(loop.body) and all(follow.method(one) == "step" for one in steps):
            yield from (source.code(tree.receiver(one)) for one in steps if isinstance(one, ast.Call))
    for call in source.methods("step"):
        told = tree.dotted(call.args[0]).rpartition(".")[2] if len(call.args) == 1 else ""
        if _START.search(told) and not tree.loops(source, call):
            yield source.code(tree.receiver(call))


def _stepped(source: Source, save: object) -> str:
    """The scheduler that steps in the function that saves, or in one that leads to it."""
    set_by_hand = [one for one in uses.attributes(source, "last_epoch") if isinstance(one.ctx, ast.Store)]
    told = {source.code(one.value) for one in set_by_hand} | set(_caught_up(source))
    for _, events in flow.entries(source):
        saves = any(event.what == "save" and event.node is save for event in events)
        for event in events if saves else ():
            if event.what != "schedule" or event.expr is None or event.source is not source:
                continue
            made = source.values(event.expr)
            plateau = any(value.name.endswith("ReduceLROnPlateau") for value in made)
            if isinstance(event.node, ast.Call) and (event.node.args or event.node.keywords) and not plateau:
                continue  # told the epoch in each step
            if any(value.name.endswith("ExponentialLR") for value in made):
                continue  # goes on from the rate that the optimizer's state brings back
            keeps_time = any(
                value.node is not None and tree.keyword(value.node, "last_epoch")  # type: ignore[arg-type]  # a call
                for value in made
                if value.kind == "scheduler"
            )
            if not keeps_time and source.code(event.expr) not in told:
                return source.code(event.expr)
    return ""
