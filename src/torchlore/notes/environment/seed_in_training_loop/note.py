"""A constant seed set inside the epoch loop makes every epoch draw the same random numbers.

Shuffling, dropout, augmentation and noise start again from the same state at the top of each epoch: the network sees the same
batches in the same order with the same masks, and overfits to them. The run is repeatable, which is why it looks right.

Seed once, before the loop. If an epoch must be repeatable by itself, let the seed depend on it: `torch.manual_seed(seed + epoch)`.
"""

import ast
from collections.abc import Iterator

from torchlore.check import flow, frameworks, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/LucaOne/LucaOne/pull/124",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["different_orders"] == 1
    assert good["different_orders"] == 3


def find(source: Source) -> Iterator[Hit]:
    seeds = [*source.calls("torch.manual_seed"), *_helpers(source)]
    for loop in flow.backward_loops(source) if seeds and flow.may_train(source) else []:
        if frameworks.owned(source, loop.node) or loop.of("model", "optimizer"):
            continue
        for call in seeds:
            inside = tree.loops(source, call)
            if inside and inside[0] is loop.node and _constant(source, call, loop.node) and _before(loop, call):
                message = "the same random numbers are drawn again in every turn of this loop: seed once, before it"
                yield source.hit(call, message)


def _helpers(source: Source) -> list[ast.Call]:
    """Calls of functions of this file that seed torch."""
    names = {
        home.name for call in source.calls("torch.manual_seed") if (home := tree.function(source, call)) is not None
    }
    return [one for one in source.all(ast.Call) if isinstance(one.func, ast.Name) and one.func.id in names]


def _constant(source: Source, call: ast.Call, loop: ast.AST) -> bool:
    """Whether the seed stays the same in every turn: no argument is bound within the loop."""
    given = {one.id for arg in (*call.args, *(kw.value for kw in call.keywords)) for one in ast.walk(arg)
             if isinstance(one, ast.Name)}  # fmt: skip
    bound = {one.id for one in ast.walk(loop) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    calls = any(isinstance(one, ast.Call) for arg in call.args for one in ast.walk(arg))
    return not calls and not given & bound and not tree.conditions(source, call)


def _before(loop: flow.LoopFlow, call: ast.Call) -> bool:
    """Whether training follows, and not an evaluation that is meant to be repeatable."""
    later = [one for one in loop.events if one.at.lineno > call.lineno and one.what in ("backward", "eval")]  # type: ignore[attr-defined]  # events stand on statements and calls
    return bool(later) and later[0].what == "backward"
