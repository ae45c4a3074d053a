"""`cross_entropy` takes logits; a softmax in front of it is a second softmax.

The loss takes the log-softmax of what it is given. Probabilities lie in [0, 1], so the widest gap it can see between two
classes is 1: with C classes the loss cannot fall below log(1 + (C - 1) / e), and the gradient shrinks on its way to the
logits. Training runs, and stalls early.

Give it the logits, the output of the last linear layer. Apply softmax where probabilities are read, not where the loss is
taken; `argmax` needs none.
"""

from collections.abc import Iterator
from typing import Annotated, Any

from torchlore.check import losses, values
from torchlore.check.activation import activation_hit, in_eval_only
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ("loss-ce-decomp",)
SOURCES = (
    "001:68",
    "003:665",
    "https://discuss.pytorch.org/t/should-i-use-softmax-as-output-when-using-cross-entropy-loss-in-pytorch/42797",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import math

    assert bad["loss"] >= math.log(1 + 2 / math.e)  # three classes
    assert good["loss"] < 0.2


WORDS = (losses.SAID,)


def find(source: Source) -> Iterator[Hit]:
    for loss in losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy"):
        given = values.state(source, loss.input) if loss.input is not None else None
        if given is not None and given.state == "probs":
            message = "`{loss}` applies softmax itself, here it gets probabilities: give it the logits"
            yield activation_hit(source, loss, given, message)
        elif loss.input is not None and in_eval_only(source, loss.input) == "softmax":
            told = "`forward` has applied the softmax in eval mode, and the loss applies it again: give it what comes before"
            yield source.hit(loss.call, told)


def watch(call: Annotated[Call, "cross_entropy"]) -> Alarm | None:
    if call.made_by(call.input) != "softmax":
        return None
    line = call.origin(call.input) or (call.run.seen["softmax"][-1].place if call.run.seen["softmax"] else None)
    told = "cross_entropy gets the output of a softmax and applies log_softmax to it again; give it the raw outputs"
    return Alarm(told, at=line, evidence=f"input of shape {tuple(call.input.shape)} made by softmax")
