"""A scheduler changes the optimizer it was built with: a new optimizer needs a new scheduler.

`StepLR(optimizer, 30)` keeps that very object. If `optimizer` is built again afterwards, for thawed layers, another
learning rate, or after a checkpoint was loaded, the scheduler goes on turning the rate of the old one, which nobody steps
any more. The new one keeps its first rate for ever, and `scheduler.get_last_lr()` prints the schedule that does not
happen.

Build the scheduler after the optimizer that you step, and build it again whenever that one is; or keep the optimizer and
add to it: `optimizer.add_param_group(...)`.
"""

import ast
from collections.abc import Iterator

from torchlore.check import scopes, tree, uses
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/optim.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_MODULE = "torch.optim.lr_scheduler."


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["rates"] == [0.1, 0.1, 0.1]
    assert good["rates"] == [0.1, 0.05, 0.025]


def find(source: Source) -> Iterator[Hit]:
    for call, _ in uses.calls_under(source, _MODULE):
        given = tree.argument(call, 0, "optimizer")
        if not isinstance(given, ast.Name) or tree.loops(source, call):
            continue
        held, scope = source.parents[call], scopes.scope_of(source, call)
        scheduler = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
        again = [one for one in scopes.bindings(source)[scope].get(given.id, []) if _is_optimizer(source, one.value)]
        later = [
            one
            for one in again
            if getattr(one.statement, "lineno", 0) > call.lineno and not tree.conditions(source, one.statement)
        ]
        for one in later[:1]:
            if scheduler and not _built_again(source, scope, scheduler, one.statement):
                yield source.hit(
                    one.statement,
                    f"`{scheduler}` was built with the optimizer before and goes on changing that one: build it again behind "
                    "this line",
                )


def _is_optimizer(source: Source, value: ast.expr | None) -> bool:
    name = source.name(value.func) if isinstance(value, ast.Call) else ""
    return name.startswith("torch.optim.") and name.count(".") == 2 and name[12:13].isupper()


def _built_again(source: Source, scope: ast.AST, scheduler: str, after: ast.AST) -> bool:
    bound = scopes.bindings(source)[scope].get(scheduler, [])
    line = getattr(after, "lineno", 0)
    used = any(isinstance(one.ctx, ast.Load) and one.id == scheduler and one.lineno > line for one in source.all(ast.Name)
               if scopes.scope_of(source, one) is scope)  # fmt: skip
    return not used or any(getattr(one.statement, "lineno", 0) > line for one in bound)


def watch(step: Step) -> Alarm | None:
    for one in step.run.schedulers:
        other = one.optimizer
        held = one.thing is not None and other is not None and other is not step.record
        idle = held and one.steps >= 3 and len(set(one.stepped_at[-3:])) == 1 and not step.record.schedulers
        if idle and step.in_a_row(3, one.stepped_at[-1] == other.steps):  # type: ignore[union-attr]  # held says so
            return Alarm(
                "the scheduler changes an optimizer that is not stepped any more; build it with the optimizer in use",
                at=one.place,
            )
    return None
