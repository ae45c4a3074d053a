"""A scheduler changes the optimizer it was built with: a new optimizer needs a new scheduler.

`StepLR(optimizer, 30)` keeps that very object. If `optimizer` is built again afterwards, for thawed layers, another
learning rate, or after a checkpoint was loaded, the scheduler goes on turning the rate of the old one, which nobody steps
any more. The new one keeps its first rate for ever, and `scheduler.get_last_lr()` prints the schedule that does not
happen.

Build the scheduler after the optimizer that you step, and build it again whenever that one is; or keep the optimizer and
add to it: `optimizer.add_param_group(...)`.
"""

from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/optim.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["rates"] == [0.1, 0.1, 0.1]
    assert good["rates"] == [0.1, 0.05, 0.025]


def watch(step: Step) -> Alarm | None:
    for one in step.run.schedulers:
        other = one.optimizer
        held = one.thing is not None and other is not None and other is not step.record
        idle = held and one.steps >= 3 and len(set(one.stepped_at[-3:])) == 1 and not step.record.schedulers
        if idle and step.in_a_row(3, one.stepped_at[-1] == other.steps):  # type: ignore[union-attr]  # held says so
            return Alarm(
                "the scheduler changes an optimizer that is not stepped any more; build it with the optimizer in use",
                at=one.place,
            )
    return None
