"""cudnn.benchmark and cudnn.deterministic together are neither the fastest nor repeatable.

`benchmark = True` times the algorithms that cuDNN has for each new input shape and keeps the quickest; which one wins
can differ from run to run. `deterministic = True` only narrows the list it may choose from. With both on, the run pays
for the search, loses the fast algorithms, and still differs between processes: six runs on an H200 gave 1 gradient
with both off, 3 with benchmark alone, 2 with both, and 1 with `deterministic` alone. Nothing warns.

Choose one. For speed with fixed input shapes: `torch.backends.cudnn.benchmark = True`. For repeatable runs:

`torchlore.recipes.seed.set_deterministic()`, which turns the search off, asks torch for deterministic algorithms (an
operation that has none then raises) and sets `CUBLAS_WORKSPACE_CONFIG`.
"""

from typing import Any

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
