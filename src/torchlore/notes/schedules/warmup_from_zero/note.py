"""A warm-up `lambda t: t / 10` trains the first epoch at rate 0 and never stops growing.

`LambdaLR` calls the function with 0 when it is built. `t / 10` is 0 there, so the first epoch changes nothing: a tenth
of the warm-up is thrown away, and with a per-epoch schedule a whole epoch of computing. After the tenth epoch the same
function goes on: 1.4 times the rate at epoch 14.

Start above zero and stop at one: `lambda t: min((t + 1) / 10, 1.0)`. Torch has the same as
`LinearLR(optimizer, start_factor=0.1, total_iters=9)`, to be put in front of another schedule with
`SequentialLR(optimizer, [warmup, cosine], milestones=[10])`. A lambda is not saved in the scheduler's `state_dict`.
`torchlore.recipes.schedules.Warmup` wraps any schedule.
"""

import ast
from collections.abc import Iterator

from torchlore.check import flow, identity, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

ROWS = ("schedule-warmup-lambda",)
SOURCES = ("003:546-550",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    from collections.abc import Callable

    import torch
    from torch.optim.lr_scheduler import LambdaLR, LinearLR, LRScheduler

    assert bad["rates"] == [0.0, 0.1, 0.2, 0.3]
    assert bad["first_epoch_moved"] == 0.0
    assert good["rates"] == [0.1, 0.2, 0.3, 0.4]
    assert float(str(good["first_epoch_moved"])) > 0

    def trace(build: Callable[[torch.optim.Optimizer], LRScheduler], epochs: int) -> list[float]:
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        scheduler, used = build(optimizer), []
        for _ in range(epochs):
            used.append(round(optimizer.param_groups[0]["lr"], 6))
            optimizer.step()
            scheduler.step()
        return used

    assert trace(lambda optimizer: LambdaLR(optimizer, lambda t: t / 10), 15)[14] == 1.4
    linear = trace(lambda optimizer: LinearLR(optimizer, start_factor=0.1, total_iters=9), 12)
    assert linear == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0]


_EPOCH = regex(r"^(e|ep|t|epochs?|cur_epoch|epoch_?idx|epoch_?num)$")

WORDS = ("LambdaLR",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.optim.lr_scheduler.LambdaLR"):
        rule = tree.argument(call, 1, "lr_lambda")
        if not isinstance(rule, ast.Lambda) or len(rule.args.args) != 1 or not _by_epoch(source, call):
            continue
        name = rule.args.args[0].arg
        if _is_zero(source, rule.body, name):
            yield source.hit(
                call,
                f"`{source.code(rule.body)}` is 0 at {name}=0, so the first epoch trains nothing: write "
                f"`min(({name} + 1) / n, 1.0)`",
            )


def _by_epoch(source: Source, call: ast.Call) -> bool:
    """Whether the scheduler steps once an epoch: its loop holds another one, or counts epochs."""
    held = source.parents[call]
    owner = identity.identity(source, held.targets[0]) if isinstance(held, ast.Assign) else None
    for loop in flow.loops(source):
        if owner is None or all(event.owner != owner for event in loop.direct("schedule")):
            continue
        counted = isinstance(loop.node, ast.For) and _EPOCH.match(tree.dotted(loop.node.target))
        return bool(counted) or any(event.loops[-1] is not loop.node for event in loop.of("step", "backward"))
    return False


def _is_zero(source: Source, node: ast.expr, name: str) -> bool:
    """Whether the expression is surely 0 where `name` is."""
    if isinstance(node, ast.Call) and source.name(node.func) in ("min", "max", "float"):
        given = [_is_zero(source, one, name) for one in node.args]
        return any(given) if source.name(node.func) == "min" else bool(given) and all(given)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Mult | ast.FloorDiv):
        left = _is_zero(source, node.left, name)
        return left or (isinstance(node.op, ast.Mult) and _is_zero(source, node.right, name))
    return (isinstance(node, ast.Name) and node.id == name) or tree.literal(node) == 0
