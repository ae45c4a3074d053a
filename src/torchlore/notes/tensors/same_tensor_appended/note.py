"""A list that gets the same tensor in every turn holds it many times, with its last values.

`path.append(x)` stores no copy. If `x` is then changed in place (`x += v`, `x[i] = 0`, `x.mul_(0.9)`), every entry
changes with it, and at the end all of them are equal. `x = x + v` makes a new tensor and would be fine: the two differ
in one character. Replay buffers, trajectories and collected hidden states fall into this.

Store a copy, `path.append(x.clone())` (`.copy()` for an array), or bind the name anew: `x = x + v`.
"""

from typing import Any

ROWS = ()
SOURCES = ("https://github.com/pytorch/rl/pull/1331",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert good["path"] == [0.0, 1.0, 2.0, 3.0]
    assert bad["path"] == [4.0, 4.0, 4.0, 4.0]
