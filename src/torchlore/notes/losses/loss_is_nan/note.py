"""Once a loss is NaN or infinite, every later step is too: the weights themselves have become NaN.

`log(0)`, `sqrt` at 0, a division by a count of 0, `exp` of something large, or a learning rate that is too high gives one
value that is not a number. `backward()` spreads it to every weight the loss depends on, and no later batch can bring
them back. Nothing raises; the run goes on to its end.

Find where it is born (`lore watch` names the operation, `torch.autograd.set_detect_anomaly(True)` the line), keep the
argument away from the edge (`log_softmax`, `clamp_min(eps)`, `count.clamp_min(1)`), and stop a run whose loss is not
finite.
"""

from __future__ import annotations

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://discuss.pytorch.org/t/getting-nan-after-first-iteration-with-custom-loss/25929",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["broken_weights"] > 0
    assert good["broken_weights"] == 0


def watch(call: Annotated[Call, "backward"]) -> Alarm | None:
    if call.kwargs.get("finite") is not False or call.run.counts["GradScaler.scale"]:
        return None
    birth = call.kwargs.get("birth")
    where = f", born in {birth}" if birth else ""
    told = f"the loss is not a finite number{where}, and backward() makes every weight NaN; keep the argument of log, sqrt, exp and division away from the edge"
    because = ("fractions-in-integer-tensor", "all-targets-ignored")
    return Alarm(told, evidence=f"at backward {call.run.backwards}", because=because)
