"""`no_grad` does not switch dropout and batch norm: that is what `model.eval()` is for.

A model is born in training mode and stays there. Evaluated so, dropout still drops, batch norm normalises with the batch at
hand (the score depends on who shares a batch with whom) and moves its running statistics towards the validation data.

Call `model.eval()` before evaluation and `model.train()` before the next training epoch.
"""

from collections.abc import Iterator
from typing import Any

from torchlore.watch.pictures import Alarm, Phase

ROWS = ("module-train-eval",)
SOURCES = (
    "003:661-664",
    "https://github.com/nshaud/DeepHyperX/issues/51",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["gap"] > 0
    assert good["gap"] == 0


def watch(phase: Phase) -> Iterator[Alarm]:
    scored = any(not one.facts["grad_enabled"] for one in phase.losses)
    for root, forwards in phase.roots():
        wrong = [one for one in forwards if one.facts["training"] and not one.facts["grad_enabled"]]
        layers = [name for name, layer in root.mode_sensitive() if layer.training] if wrong else []
        enough = len(wrong) >= 3 or (scored and phase.run.steps > 1) or len(wrong) > 1 < len(phase.batches)
        if layers and enough and phase.run.steps and root.train_forwards > len(wrong):
            told = f"{root.kind} is evaluated in training mode: dropout drops and batch norm learns from it; call eval() first"
            yield Alarm(
                told,
                at=wrong[-1].place,
                evidence=f"{len(wrong)} forwards without gradients, active: {', '.join(layers[:3])}",
            )
