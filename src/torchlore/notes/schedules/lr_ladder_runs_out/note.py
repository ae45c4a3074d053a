"""A ladder of `if epoch < n` needs an else, or the last rung leaves no learning rate.

The warm-up of BFE-net, as copied around: `1e-4 * (epoch // 5 + 1)` up to epoch 50, then 1e-3, then 1e-4 up to 300. It
reaches 1e-3 at epoch 45, not at 50, and at epoch 300 no branch assigns `lr`: an UnboundLocalError after days of
training, or, where the rate is written into `param_groups` inside the branches, silence and the old rate. That warm-up
raises accuracy is one thread's word; a second warm-up in the same notes starts at 0 instead of at a tenth.

Say the rate as a function that covers every epoch, and let a scheduler apply it, so that it is saved and resumed:

```python
scheduler = LambdaLR(optimizer, lambda e: min(e // 5 + 1, 10) / 10 * (0.1 if e >= 200 else 1.0))  # of lr=1e-3
```

`torchlore.recipes.schedules` has `Warmup(MultiStep((200,), 0.1), 50)` as a plain function of the epoch.
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import scopes, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

ROWS = ("schedule-bfe",)
SOURCES = ("000:32-40", "002:90-109")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    import torch
    from torch.optim.lr_scheduler import LambdaLR

    assert bad["error"] == "UnboundLocalError"
    assert good["error"] == ""
    assert good["last"] == 1e-4

    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1e-3)
    scheduler = LambdaLR(optimizer, lambda e: min(e // 5 + 1, 10) / 10 * (0.1 if e >= 200 else 1.0))
    rates: list[float] = []
    for _ in range(320):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    ladder = [1e-4 * (e // 5 + 1) if e < 50 else 1e-3 if e < 200 else 1e-4 for e in range(320)]
    assert max(abs(a - b) for a, b in zip(rates, ladder, strict=True)) < 1e-9
    assert rates[44] < 9.5e-4 < rates[45]  # the target is reached at 45


_TIME = regex(r"^(ep|epochs?|cur_epoch|current_epoch|step|steps|it|iters?|iteration|global_step)$")
_RATE = regex(r"lr|rate", re.IGNORECASE)

WORDS = ("ep|epoch|epochs|cur_epoch|current_epoch|step|steps|it|iter|iters|iteration|global_step",)


def find(source: Source) -> Iterator[Hit]:
    for first in source.all(ast.If):
        if len(first.orelse) != 1 or not isinstance(first.orelse[0], ast.If):
            continue
        rungs, rest = [first], first.orelse
        while len(rest) == 1 and isinstance(rest[0], ast.If):
            rungs.append(rest[0])
            rest = rest[0].orelse
        up = source.parents[first]
        if rest or (isinstance(up, ast.If) and up.orelse == [first]):
            continue
        clocks = {tree.dotted(one.test.left) for one in rungs if isinstance(one.test, ast.Compare)}
        targets = [_assigned(rung) for rung in rungs]
        clock, rate = clocks.pop() if len(clocks) == 1 else "", targets[0]
        timed = _TIME.match(clock.rpartition(".")[2]) and all(isinstance(one.test, ast.Compare) for one in rungs)
        if timed and rate and _RATE.search(rate) and set(targets) == {rate} and _only_there(source, first, rate):
            yield source.hit(
                first.test,
                f"no branch gives `{rate}` a value once `{source.code(rungs[-1].test)}` is false, and the next line "
                "that reads it fails: write `else:` for the last rung",
            )


def _assigned(rung: ast.If) -> str:
    only = rung.body[0] if len(rung.body) == 1 else None
    plain = isinstance(only, ast.Assign) and len(only.targets) == 1 and isinstance(only.targets[0], ast.Name)
    return only.targets[0].id if plain else ""  # type: ignore[union-attr]  # `plain` says so


def _only_there(source: Source, ladder: ast.If, rate: str) -> bool:
    """Whether the name is bound in the ladder alone, and read behind it."""
    scope = scopes.scope_of(source, ladder)
    bound = scopes.bound(source, rate).get(scope, [])
    uses = [one for one in source.all(ast.Name) if one.id == rate and isinstance(one.ctx, ast.Load)]
    behind = [one for one in uses if one.lineno > (ladder.end_lineno or 0) and scopes.scope_of(source, one) is scope]
    return bool(behind) and all(tree.inside(source, one.statement, ladder) for one in bound)
