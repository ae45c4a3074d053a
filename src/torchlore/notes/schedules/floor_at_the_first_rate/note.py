"""A floor that is the first rate leaves a schedule nothing to do.

`CosineAnnealingLR(optimizer, T_max=50, eta_min=1e-3)` falls from the optimizer's rate to `eta_min`. If both are 1e-3, it falls from 1e-3
to 1e-3: the scheduler is there, it is stepped, and the rate is one number from the first step to the last. With a floor above the rate
it rises. The same holds for `min_lr` of `ReduceLROnPlateau`. It comes from a configuration where the rate was lowered and the floor was
not.

Take a floor that is a small part of the rate: `eta_min=0.01 * lr`, or leave it out, then it is 0.
"""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/AmirmohammadRostami/KeywordsSpotting-EfficientNet-A0/issues/1",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_FLOORS = (
    ("CosineAnnealingLR", 2, "eta_min"),
    ("CosineAnnealingWarmRestarts", 3, "eta_min"),
    ("ReduceLROnPlateau", 7, "min_lr"),
)


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["last_rate"] == 1e-3
    assert good["last_rate"] < 1e-4


WORDS = ("|".join(kind for kind, _, _ in _FLOORS),)


def find(source: Source) -> Iterator[Hit]:
    for kind, place, word in _FLOORS:
        for call in source.calls(f"torch.optim.lr_scheduler.{kind}"):
            floor, rate = tree.argument(call, place, word), _rate(source, call)
            low, high = (_number(source, one) for one in (floor, rate))
            if floor is None or low is None or high is None or low < high or follow.in_test(source, call):
                continue
            happens = "stays where it is" if low == high else "does not fall"
            told = f"the rate begins at {high:g}, and `{word}` is {low:g}, so it {happens}"
            yield source.hit(floor, f"{told}: give a smaller `{word}`")


def _rate(source: Source, call: ast.Call) -> ast.expr | None:
    """The rate of the optimizer that a scheduler is made with, where it is made with one rate for all."""
    given = tree.argument(call, 0, "optimizer")
    made = source.values(given) if given is not None else ()
    one = made[0].node if len(made) == 1 and made[0].kind == "optimizer" and made[0].source is source else None
    if not isinstance(one, ast.Call) or not source.name(one.func).startswith("torch.optim."):
        return None
    plain = one.args and not isinstance(follow.followed(source, one.args[0]), ast.List | ast.ListComp)
    return tree.argument(one, 1, "lr") if plain else None


def _number(source: Source, node: ast.expr | None) -> float | None:
    found = tree.literal(follow.followed(source, node)) if node is not None else None
    return float(found) if isinstance(found, float | int) and not isinstance(found, bool) else None
