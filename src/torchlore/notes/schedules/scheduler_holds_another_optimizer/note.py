"""A scheduler changes the optimizer it was built with: a new optimizer needs a new scheduler.

`StepLR(optimizer, 30)` keeps that very object. If `optimizer` is built again afterwards, for thawed layers, another
learning rate, or after a checkpoint was loaded, the scheduler goes on turning the rate of the old one, which nobody steps
any more. The new one keeps its first rate for ever, and `scheduler.get_last_lr()` prints the schedule that does not
happen.

Build the scheduler after the optimizer that you step, and build it again whenever that one is; or keep the optimizer and
add to it: `optimizer.add_param_group(...)`.
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/optim.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["rates"] == [0.1, 0.1, 0.1]
    assert good["rates"] == [0.1, 0.05, 0.025]
