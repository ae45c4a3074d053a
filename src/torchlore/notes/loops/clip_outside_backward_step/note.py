"""Clipping works between `backward()` and `step()`; anywhere else it clips nothing that is used.

`clip_grad_norm_` scales the gradients that are there now. Called after `step()` it scales what the next `zero_grad()` throws
away; called before `backward()` it scales nothing. Training looks clipped in the configuration and is not.

Order: `loss.backward()`, with a GradScaler `scaler.unscale_(optimizer)`, then `clip_grad_norm_(...)`, then
`optimizer.step()`.
"""

import re
from typing import Any

from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://github.com/awslabs/graphstorm/issues/1366",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["largest_update"] > 10
    assert good["largest_update"] < 1.001


def watch(step: Step) -> Alarm | None:
    if step.in_a_row(2, _in_parts(step), "parts"):
        told = "the gradient of every part of the batch is clipped before the next is added; clip once, beside step()"
        return Alarm(told, at=step.of("clip")[-1].place, certain=False, evidence=f"order: {step.order}")
    late = re.search("^[^BC]*C+[^BC]*B[^C]*S$", step.order) and "s" not in step.order
    if not step.in_a_row(2, bool(late) and not step.closure and step.number > 1):
        return None
    told = "gradients are clipped after step(), where it changes nothing; clip between backward() and step()"
    return Alarm(told, at=step.of("clip")[-1].place, evidence=f"order since the last step: {step.order}")


def _in_parts(step: Step) -> bool:
    """Clipped on one line after each of several backward passes that make one step."""
    lines = {event.place for event in step.of("clip")}
    parts = re.fullmatch("[^BCSs]*(?:B[^BCSsZ]*C[^BCSsZ]*){2,}S", step.order)
    return parts is not None and len(lines) == 1 and not step.closure
