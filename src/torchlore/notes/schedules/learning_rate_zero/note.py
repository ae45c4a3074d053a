"""A learning rate of 0 trains nothing, and a schedule can leave it there for good.

A warm-up that starts at 0, a `LambdaLR` whose integer division gives 0, a cosine that was stepped past its end or per
batch instead of per epoch: the loop runs, the loss is printed, and not one weight moves. Nothing warns.

Print `optimizer.param_groups[0]["lr"]` beside the loss. Divide with `/`, not `//`; start a warm-up at `(step + 1) / n`;
give a schedule as many steps as it will really be stepped.
"""

from __future__ import annotations

from typing import Any

from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://discuss.pytorch.org/t/lambdalr-learning-rate-is-zero/82110",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0


def watch(step: Step) -> Alarm | None:
    rates = [float(rate) for rate in step.rates]
    if not step.in_a_row(20, bool(rates) and not any(rates)):
        return None
    told = "the learning rate has been 0 for 20 steps, so no weight moves; look at the schedule"
    places = [record.place for record in step.record.schedulers if record.place is not None]
    return Alarm(told, at=places[0] if places else step.record.place, evidence=f"rates {rates} at step {step.number}")
