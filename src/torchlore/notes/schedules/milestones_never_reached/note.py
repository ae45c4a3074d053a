"""A milestone behind the last step of a scheduler is never reached: the rate stays as it began.

`MultiStepLR(optimizer, milestones=[60, 80])` counts calls of its own `step()`. Called once an epoch in a run of 10 epochs, it never
gets there: milestones written in iterations, or copied from a run of 100 epochs, do nothing. The scheduler is there, it is
stepped, and the rate is the first one until the end.

`LinearLR(optimizer, 0.01, total_iters=500)` is the same the other way round: stepped once an epoch, a warm-up that was counted in
iterations never ends, and the whole run is trained at a small part of the rate.

Say the milestones in the unit in which `step()` is called, or as shares of it: `[int(0.6 * epochs), int(0.8 * epochs)]`.
"""

import ast
import math
from collections.abc import Iterator

from torchlore.check import follow, tree, uses
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/Pointcept/Pointcept/issues/379", "https://github.com/bshall/Tacotron/issues/3")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_MARKS = (
    ("MultiStepLR", 1, "milestones", 3, "its first milestone is {}, so the rate never changes"),
    ("LinearLR", 3, "total_iters", 4, "it takes {} steps to the full rate, so the warm-up never ends"),
)


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["rate"] == 0.1
    assert abs(good["rate"] - 0.001) < 1e-9


WORDS = ("|".join(kind for kind, *_ in _MARKS),)


def find(source: Source) -> Iterator[Hit]:
    for kind, place, word, last, says in _MARKS:
        for call in source.calls(f"torch.optim.lr_scheduler.{kind}"):
            held = source.parents[call]
            target = held.targets[0] if isinstance(held, ast.Assign) and len(held.targets) == 1 else None
            given = tree.argument(call, place, word)
            known = tree.literal(follow.followed(source, given)) if given is not None else None
            marks = [one for one in (known if isinstance(known, list | tuple) else [known]) if isinstance(one, int)]
            if not marks or not isinstance(target, ast.Name) or tree.loops(source, call):
                continue
            turns = _turns(source, target) if tree.lacks(call, last, "last_epoch") else None
            if turns is not None and min(marks) > turns:
                told = f"`{target.id}` is stepped {turns} times, and {says.format(min(marks))}"
                yield source.hit(call, f"{told}: give `{word}` as `step()` counts")


def _turns(source: Source, target: ast.Name) -> int | None:
    """How often a scheduler is stepped, where all that is done with it is `step()` in loops over `range(number)`."""
    home = tree.function(source, target)
    reads = [
        one
        for one in uses.names(source, target.id)
        if isinstance(one.ctx, ast.Load) and tree.function(source, one) is home
    ]
    steps = [one for one in reads if getattr(source.parents[one], "attr", "") == "step"]
    others = [one for one in reads if not isinstance(source.parents[one], ast.Attribute)]
    around = tree.loops(source, steps[0]) if len(steps) == 1 and not others else []
    counts = [_count(source, one) for one in around]
    called = home is not None and home.name not in ("main", "train", "run", "fit")
    if not counts or None in counts or called or tree.conditions(source, steps[0]):
        return None
    return math.prod(one for one in counts if one is not None)


def _count(source: Source, loop: tree.Loop) -> int | None:
    over = loop.iter if isinstance(loop, ast.For) else None
    plain = isinstance(over, ast.Call) and source.name(over.func) == "range" and len(over.args) == 1
    number = tree.literal(follow.followed(source, over.args[0])) if plain and isinstance(over, ast.Call) else None
    return number if isinstance(number, int) else None
