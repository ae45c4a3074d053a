"""`zero_grad(set_to_none=False)` keeps zeros for every parameter, and the optimizer steps with them.

The gradients stay in memory between steps, each is written twice (zeros, then the sum), and a parameter that got no
gradient this time is stepped with a gradient of 0: momentum and weight decay go on moving it. With the default, None, it
is left alone.

Leave the argument out. Where code reads `p.grad` after `zero_grad()`, let it ask `if p.grad is not None`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/pytorch-labs/torchfix",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["kept"] > 0 == good["kept"]
    assert bad["unused_moved"] > 0 == good["unused_moved"]


WORDS = ("zero_grad", "False")


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("zero_grad"):
        given = tree.argument(call, 0, "set_to_none")
        if (
            given is not None
            and tree.literal(given) is False
            and values.sure(source, tree.receiver(call), "optimizer", "module")
        ):
            fix = edits.remove_argument(source, call, given)
            told = "zeros are kept and stepped with: leave `set_to_none=False` out"
            yield source.hit(call, told, fix, safe=False)
