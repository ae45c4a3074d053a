"""`no_grad` does not switch dropout and batch norm: that is what `model.eval()` is for.

A model is born in training mode and stays there. Evaluated so, dropout still drops, batch norm normalises with the batch at
hand (the score depends on who shares a batch with whom) and moves its running statistics towards the validation data.

Call `model.eval()` before evaluation and `model.train()` before the next training epoch.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from torchlore.watch.pictures import Alarm, Call, Phase

if TYPE_CHECKING:
    from torchlore.watch.records import RootRecord

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


def watch(picture: Annotated[Call, "Module.load_state_dict"] | Phase) -> Iterator[Alarm]:
    loaded: set[int] = picture.notes.setdefault("loaded", set())
    if isinstance(picture, Call):
        if not _of_living(picture):
            loaded.add(id(picture.owner))
        return
    phase = picture
    scored = any(not one.facts["grad_enabled"] for one in phase.losses)
    for root, forwards in phase.roots():
        wrong = [one for one in forwards if one.facts["training"] and not one.facts["grad_enabled"]]
        layers = [name for name, layer in root.mode_sensitive() if layer.training] if wrong else []
        enough = len(wrong) >= 3 or (scored and phase.run.steps > 1) or len(wrong) > 1 < len(phase.batches)
        evidence = f"{len(wrong)} forwards without gradients, active: {', '.join(layers[:3])}"
        if layers and enough and phase.run.steps and root.train_forwards > len(wrong):
            told = f"{root.kind} is evaluated in training mode: dropout drops and batch norm learns from it; call eval() first"
            yield Alarm(told, at=wrong[-1].place, evidence=evidence)
        elif layers and id(root.module) in loaded and len(wrong) == len(forwards) == root.forwards:
            if len(wrong) == 1 and _teaches(phase, root):
                continue
            told = f"{root.kind} was loaded and is used in training mode: dropout drops, batch norm looks at the batch; call eval() first"
            yield Alarm(told, at=wrong[-1].place, certain=False, evidence=evidence)


def _teaches(phase: Phase, root: "RootRecord") -> bool:
    """Whether it is frozen and runs once for a step of another: a mean teacher is in training mode as its student is."""
    frozen = root.module is not None and not any(p.requires_grad for p in root.module.parameters())
    others = (one for one in phase.forwards if one.facts["record"] is not root)
    return frozen and not phase.final and any(one.facts["requires_grad"] for one in others)


def _of_living(call: Call) -> bool:
    """Whether the weights are those of a network of the program: a target network may well stay in training mode."""
    given = call.argument(1, "state_dict")
    first = (
        next((one for one in given.values() if hasattr(one, "data_ptr")), None) if hasattr(given, "values") else None
    )
    others = (p for module in call.run.modules() for p in module.parameters() if module is not call.owner)
    return first is None or any(p.data_ptr() == first.data_ptr() for p in others)
