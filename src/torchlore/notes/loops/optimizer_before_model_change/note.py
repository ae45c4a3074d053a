"""An optimizer keeps the parameters it was given; a layer replaced later is never trained.

`optimizer = Adam(model.parameters())` stores tensors, not the model. Replace `model.fc` after that line and the new head is
trained by nobody, while the old one sits in the optimizer without a gradient. The loss may still fall, through the layers
below the head.

Finish the model, then build the optimizer; for a layer that comes later, call `optimizer.add_param_group`.
"""

from typing import Any

from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://github.com/microsoft/nni/issues/4521",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["moved"] == 0.0
    assert good["moved"] > 0.0


def watch(step: Step) -> Alarm | None:
    if step.reached is None:
        return None
    names, held = step.run.parameter_names(), step.run.held()
    missed = [names[id(p)] for p in step.reached if id(p) in names and id(p) not in held]
    gone = [one.name for one in step.without_gradient if id(one.tensor) not in names]
    if not step.in_a_row(2, bool(missed and gone)):
        return None
    told = f"{', '.join(missed[:3])} get gradients but are in no optimizer, which holds tensors that the model no longer uses; build it after the model is complete"
    return Alarm(told, at=step.record.place, evidence=f"{len(missed)} parameters untrained, {len(gone)} left over")
