"""`target = net` makes no second network: both names train together.

A target network, a teacher, a frozen reference or the best model so far must stand still while the other one learns.
Bound by `=` it is the same module under another name: the target moves with every step, the distillation loss is 0, the
"old" policy ratio is always 1, and freezing the teacher freezes the student. `copy.copy(net)` is hardly better: it
copies the shell and shares every parameter.

Write `target = copy.deepcopy(net)`, then `target.requires_grad_(False)`; or build it a second time and
`target.load_state_dict(net.state_dict())`.
"""

from typing import Any

ROWS = ()
SOURCES = ("https://github.com/datawhalechina/easy-rl/issues/140",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import copy

    from torch import nn

    assert bad["target_moved"] > 0
    assert good["target_moved"] == 0
    net = nn.Linear(2, 2)
    assert copy.copy(net).weight is net.weight
    assert copy.deepcopy(net).weight is not net.weight
