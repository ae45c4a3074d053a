"""A learning rate that is too large makes the loss many times that of an untrained network.

The loss of an untrained classifier is near the logarithm of the number of classes. A step that overshoots makes outputs of
hundreds, and then the loss is in the tens and jumps. It may come down again, with most ReLUs dead and at a worse place; batch
norm and clipping hide the cause. Rates that are usual: 1e-3 for Adam, 3e-4 for transformers, 0.1 or less for SGD.

Try a tenth of it, warm it up over the first hundred steps, and look at the first fifty losses, not at the means of epochs.
"""

from typing import Any

from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://github.com/juntang-zhuang/LadderNet/issues/1",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_LOSSES = ("nllloss", "binarycrossentropywithlogits")  # an untrained classifier has a known one
_LIMIT = 10  # times the first loss


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["worst"] > 10 * bad["first"]
    assert good["worst"] < 2 * good["first"]


def watch(step: Step) -> Alarm | None:
    backwards, loss = step.of("backward"), step.run.loss
    classifies = len(backwards) == 1 and backwards[0].facts["made_by"] in _LOSSES
    if not classifies or loss is None or step.number > 64:
        return None
    first = step.memory.setdefault("first", max(loss, 0.7))
    step.memory["worst"] = max(loss, step.memory.get("worst", loss))
    if step.number < 3 or not step.times(6, loss > _LIMIT * first):
        return None
    rates = ", ".join(f"{rate:g}" for rate in sorted(set(step.rates)))
    return Alarm(
        f"the loss went from {first:.3g} up to {step.memory['worst']:.3g}: a rate of {rates} is too large for this {step.record.kind}; "
        "try a tenth of it",
        at=step.record.place,
        certain=False,
        evidence=f"more than {_LIMIT} times the first loss in 6 of {step.number} steps",
        because=(
            "inputs-not-normalised",
            "missing-zero-grad",
            "unscaled-random-weights",
            "loss-is-nan",
            "loss-args-swapped",
        ),
    )
