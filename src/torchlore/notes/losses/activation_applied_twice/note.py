"""A sigmoid or softmax of probabilities squeezes them together: 0 becomes 0.5, and 1 becomes 0.73.

Each of the two turns raw outputs into probabilities. Applied to what are probabilities already, they still give numbers between 0
and 1, so nothing looks wrong. But a sigmoid of a probability lies between 0.5 and 0.73, and the softmax of ten probabilities gives
no class more than 0.23: the loss has a floor it cannot leave, a threshold of 0.5 says yes to everything, and the gradient is small
everywhere. It happens where a model ends in an activation and a loss, a metric or a wrapper applies its own.

Apply it once. Decide who does it, best the loss (`F.cross_entropy`, `F.binary_cross_entropy_with_logits` take raw outputs), and let
all others pass on what they get.
"""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = (
    "https://github.com/Hsuxu/Loss_ToolBox-PyTorch/issues/11",
    "https://github.com/runame/laplace-redux/pull/1",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["least_loss"] > 0.2
    assert good["least_loss"] < 0.02


def watch(call: Annotated[Call, "sigmoid", "softmax", "log_softmax"]) -> Alarm | None:
    given = call.argument(0, "input")
    before = call.made_by(given) if hasattr(given, "grad_fn") else ""
    if before not in ("softmax", "sigmoid") or (before == "sigmoid" and call.name != "sigmoid"):
        return None
    if not call.times(2, before != ""):
        return None
    told = f"{call.name} is applied to the probabilities of a {before}; apply one of the two, to the raw outputs"
    return Alarm(told, evidence=f"the input was made by {before}")
