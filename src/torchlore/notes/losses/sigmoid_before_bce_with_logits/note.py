"""`BCEWithLogitsLoss` applies the sigmoid itself; a sigmoid in front of it is a second one.

A probability lies in [0, 1], and the sigmoid of that lies in [0.5, 0.73]: the loss can never be small for a negative, the
gradient of a confident output vanishes, and thresholds chosen at 0.5 call everything positive.

Give it the raw output of the last layer, and take `torch.sigmoid` only where a probability is read. (`BCELoss` is the one
that wants probabilities; it is less exact for large logits.)
"""

from collections.abc import Iterator
from typing import Annotated, Any

from torchlore.check import losses, values
from torchlore.check.activation import activation_hit, in_eval_only
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://discuss.pytorch.org/t/bceloss-vs-bcewithlogitsloss/33586",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import math

    assert bad["loss"] > 0.5 * (math.log(2) + math.log(1 + math.exp(-1)))  # half the labels are negative
    assert good["loss"] < 0.2


WORDS = (losses.SAID,)


def find(source: Source) -> Iterator[Hit]:
    for loss in losses.loss_calls(source, "BCEWithLogitsLoss", "binary_cross_entropy_with_logits"):
        given = values.state(source, loss.input) if loss.input is not None else None
        if given is not None and given.state in ("sigmoid", "probs"):
            first = "sigmoid" if given.state == "sigmoid" else "softmax"
            message = f"`{{loss}}` applies the sigmoid itself, here it gets the output of a {first}: give it the logits"
            yield activation_hit(source, loss, given, message)
        elif loss.input is not None and in_eval_only(source, loss.input) == "sigmoid":
            told = "`forward` has applied the sigmoid in eval mode, and the loss applies it again: give it what comes before"
            yield source.hit(loss.call, told)


def watch(call: Annotated[Call, "binary_cross_entropy_with_logits"]) -> Alarm | None:
    maker = call.made_by(call.input)
    if maker not in ("sigmoid", "softmax"):
        return None
    told = f"binary_cross_entropy_with_logits gets the output of a {maker} and applies a sigmoid itself; give it the raw outputs"
    return Alarm(told, at=call.origin(call.input), evidence=f"input of shape {tuple(call.input.shape)} made by {maker}")
