"""`ConstantLR(optimizer)` does not leave the rate alone: the first five epochs run at a third.

The name says constant, and the defaults are `factor=1/3, total_iters=5`: a short warm-up at one level. Whoever takes it as the scheduler
that does nothing trains five epochs (or five batches) three times slower than the rate that was given and printed in the configuration.

`LinearLR(optimizer, end_factor=0.1)` does the same: its `start_factor` is 1/3 too, so it falls from a third of the rate.

For a rate that stays, use no scheduler, or say so: `ConstantLR(optimizer, factor=1.0)` or `LambdaLR(optimizer, lambda step: 1.0)`. As a
warm-up, name both numbers: `ConstantLR(optimizer, factor=0.1, total_iters=500)`.
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.ConstantLR.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_THIRD = 1 / 3


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(bad["first_rate"] - 0.3 / 3) < 1e-6
    assert abs(good["first_rate"] - 0.3) < 1e-6


WORDS = ("ConstantLR|LinearLR",)


def find(source: Source) -> Iterator[Hit]:
    yield from _linear(source)
    for call in source.calls("torch.optim.lr_scheduler.ConstantLR"):
        bare = len(call.args) == 1 and not call.keywords and not tree.spread(call)
        if bare and not _in_a_row(source, call):
            told = "without `factor` this runs the first 5 steps at a third of the rate; for a rate that stays write `factor=1.0`"
            yield source.hit(
                call, told, edits.replace(source, call, f"{source.code(call)[:-1]}, factor=1.0)"), safe=False
            )


def _linear(source: Source) -> Iterator[Hit]:
    """`LinearLR(optimizer, end_factor=0.1)`, which is to fall from the whole rate, and begins at a third of it."""
    for call in source.calls("torch.optim.lr_scheduler.LinearLR"):
        end = tree.argument(call, 2, "end_factor")
        low = tree.literal(end) if end is not None else None
        falls = isinstance(low, float | int) and low < _THIRD
        bare = len(call.args) == 1 and not call.keywords
        if tree.lacks(call, 1, "start_factor") and (falls or (bare and not _in_a_row(source, call))):
            told = (
                "without `start_factor` this begins at a third of the rate: write `start_factor=1.0` for one that falls"
            )
            yield source.hit(
                call, told, edits.replace(source, call, f"{source.code(call)[:-1]}, start_factor=1.0)"), safe=False
            )


def _in_a_row(source: Source, call: ast.Call) -> bool:
    """One of several in a `SequentialLR` or `ChainedScheduler`, or called `warmup`: meant as it is."""
    held = tree.statement(source, call)
    if isinstance(held, ast.Assign) and "warm" in source.code(held.targets[0]).lower():
        return True
    return (
        "SequentialLR" in source.text or "ChainedScheduler" in source.text or isinstance(source.parents[call], ast.List)
    )
