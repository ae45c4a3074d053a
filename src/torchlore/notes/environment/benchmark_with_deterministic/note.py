"""cudnn.benchmark and cudnn.deterministic together are neither the fastest nor repeatable.

`benchmark = True` times the algorithms that cuDNN has for each new input shape and keeps the quickest; which one wins
can differ from run to run. `deterministic = True` only narrows the list it may choose from. With both on, the run pays
for the search, loses the fast algorithms, and still differs between processes: six runs on an H200 gave 1 gradient
with both off, 3 with benchmark alone, 2 with both, and 1 with `deterministic` alone. Nothing warns.

Choose one. For speed with fixed input shapes: `torch.backends.cudnn.benchmark = True`. For repeatable runs:

`torchlore.recipes.seed.set_deterministic()`, which turns the search off, asks torch for deterministic algorithms (an
operation that has none then raises) and sets `CUBLAS_WORKSPACE_CONFIG`.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import tree, uses
from torchlore.check.source import Hit, Source

ROWS = ("env-cudnn-flags",)
SOURCES = ("003:44-48",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["warned"] == 0  # torch takes the contradiction in silence
    assert bad["searches"]
    assert bad["restricted"]
    assert not good["searches"]
    assert good["strict"]  # an operation without a deterministic form raises now
    assert not bad["strict"]


WORDS = ("cudnn", "benchmark", "deterministic")


def find(source: Source) -> Iterator[Hit]:
    flags: dict[str, list[ast.Assign]] = {"benchmark": [], "deterministic": []}
    for assign in uses.assigns(source, ast.Attribute):
        target = assign.targets[0]
        if isinstance(target, ast.Attribute) and target.attr in flags and tree.literal(assign.value) in (True, False):
            full = source.name(target.value)
            if full == "torch.backends.cudnn":
                flags[target.attr].append(assign)
    for second in flags["deterministic"]:
        for first in flags["benchmark"]:
            if _together(source, first, second) and tree.literal(first.value) and tree.literal(second.value):
                later = max(first, second, key=lambda one: one.lineno)
                message = (
                    "cudnn.benchmark and cudnn.deterministic are both on: the run pays for the search and still does "
                    "not repeat; keep benchmark for speed, or set it to False for repeatable runs"
                )
                yield source.hit(later, message)


def _together(source: Source, first: ast.Assign, second: ast.Assign) -> bool:
    """Both run, one after the other: the same block of the same statement."""
    up = source.parents[first]
    blocks = (getattr(up, field, []) for field in ("body", "orelse", "finalbody"))
    return any(first in block and second in block for block in blocks)
