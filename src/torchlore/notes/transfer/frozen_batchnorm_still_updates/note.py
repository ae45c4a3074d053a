"""Freezing parameters does not freeze batch norm: in train mode its running statistics still move.

`requires_grad = False` stops gradients. Running mean and variance are buffers, and every forward in train mode updates
them from the batch. A "frozen" backbone under `model.train()` therefore drifts to the statistics of the new data, with
small batches to noise, and its features no longer are the pretrained ones; evaluation then uses the drifted numbers.

Put the frozen part back into eval mode after each `model.train()`: `model.backbone.eval()`. In a module of your own
override `train` to do it, or use `torchlore.recipes.features.freeze`, which keeps it there.
"""

from typing import Any

from torchlore.watch.pictures import Alarm, Step

ROWS = ("transfer-finetune-head",)
SOURCES = ("003:380-387",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["drift"] > 0.5
    assert good["drift"] == 0.0


_LOOKS = (2, 3, 10, 30, 60)  # steps of an optimizer at which the layers are looked at
_PAUSE = 24  # a GAN's generator is frozen while the other one steps, but not for so many of its steps


def watch(step: Step) -> Alarm | None:
    places = step.memory.setdefault("places", {})  # of frozen weights: who is moved is an average, and no frozen part
    looks = step.memory.setdefault("looks", list(_LOOKS))
    if not looks or step.number < looks[0]:
        return None
    looks.pop(0)
    first = step.memory.setdefault("first", step.number)
    for root in step.run.roots:
        trains = root.module is not None and any(
            p.requires_grad for p in root.module.parameters()
        )  # no momentum teacher
        for name, layer in root.mode_sensitive() if trains else ():
            weight = getattr(layer, "weight", None)
            counted = getattr(layer, "num_batches_tracked", None)
            if (
                layer.training
                and weight is not None
                and not weight.requires_grad
                and counted is not None
                and root.train_forwards
                and places.setdefault(id(weight), here := _place(weight)) == here
                and step.number > first
                and (id(weight) not in step.run.reached or step.number - first >= _PAUSE)
            ):
                return Alarm(
                    f"the parameters of `{name}` are frozen and its running statistics are not; put it into eval()",
                    at=root.place,
                )
    return None


def _place(weight: Any) -> tuple[int, int, float]:
    number = float(weight.detach().sum()) if weight.is_cpu else 0.0  # new memory may lie where the old one lay
    return weight.data_ptr(), weight._version, number  # noqa: SLF001  # no public name says whether it was written to
