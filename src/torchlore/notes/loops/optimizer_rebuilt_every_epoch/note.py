"""An optimizer built inside the epoch loop forgets its momentum and its step count every epoch.

Adam keeps two running averages for every weight and corrects them by its step count; SGD with momentum keeps one. Built
again each epoch, in the loop or in the `train_epoch` function that the loop calls, all of it starts from zero, and the
first steps of every epoch are wild or lame. A learning rate that a scheduler or you have lowered is back at its start.

Build it once, before the loop, and pass it in: `train_epoch(model, optimizer, loader)`.
"""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call, Step

ROWS = ()
SOURCES = ("https://github.com/alan-turing-institute/deepsensor/issues/47",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["steps_remembered"] == 5
    assert good["steps_remembered"] == 20


def watch(call: Annotated[Call, "Optimizer"] | Step) -> Alarm | None:
    if isinstance(call, Step):
        return _schedulers(call)
    owned = [id(p) for group in getattr(call.owner, "param_groups", ()) for p in group["params"]]
    key = hash((type(call.owner).__name__, *owned))
    before = [one.steps for one in call.run.optimizers[:-1]][-1:]
    loads = call.run.counts["Module.load_state_dict"]  # a client of federated learning starts from the server's weights
    again = call.memory.get("key") == key and call.memory.get("loads") == loads and bool(before) and before[0] > 1
    call.memory.update(key=key, loads=loads)
    plain = type(call.owner).__name__ == "SGD" and not any(group.get("momentum") for group in call.owner.param_groups)
    if not owned or plain or not call.in_a_row(3, again):
        return None  # without momentum there is nothing to forget
    return Alarm(
        f"this line has built an optimizer over the same parameters {call.memory['row'] + 1} times, each forgets the "
        "momentum and step count of the one before; build it once, before the loop",
        certain=False,
    )


def _schedulers(step: Step) -> Alarm | None:
    """Schedulers made on one line again and again, each stepped once, at another time than the others."""
    made = [one for one in step.record.schedulers if one.steps == 1 and one.place is not None]
    times = {tuple(one.stepped_at) for one in made}
    if len(made) < 3 or len(times) < len(made) or len({one.place for one in made}) > 1:
        return None
    told = f"this line has built {len(made)} schedulers, and each was stepped once; build it once, before the loop"
    return Alarm(told, at=made[-1].place)
