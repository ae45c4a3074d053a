"""Freezing parameters does not freeze batch norm: in train mode its running statistics still move.

`requires_grad = False` stops gradients. Running mean and variance are buffers, and every forward in train mode updates
them from the batch. A "frozen" backbone under `model.train()` therefore drifts to the statistics of the new data, with
small batches to noise, and its features no longer are the pretrained ones; evaluation then uses the drifted numbers.

Put the frozen part back into eval mode after each `model.train()`: `model.backbone.eval()`. In a module of your own
override `train` to do it, or use `torchlore.recipes.features.freeze`, which keeps it there.
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import flow, frameworks, identity
from torchlore.check.events import Event
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Step

ROWS = ("transfer-finetune-head",)
SOURCES = ("003:380-387",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_WITH_BN = re.compile(r"^torchvision\.models\.(\w+\.)*(resnet|resnext|wide_resnet|densenet|mobilenet|efficientnet|mnasnet|"
                      r"shufflenet|regnet|googlenet|inception|vgg\d+_bn)\w*$")  # fmt: skip


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["drift"] > 0.5
    assert good["drift"] == 0.0


def find(source: Source) -> Iterator[Hit]:
    if "requires_grad" not in source.text or not any(source.methods("train")):
        return
    for _, events in flow.entries(source):
        frozen = [event for event in events if event.what == "freeze" and event.source is source]
        if not frozen or frameworks.owned(source, frozen[0].node) or _kept_in_eval(source, events):
            continue
        last = max((i for i, event in enumerate(events) if event.what == "backward"), default=-1)
        for event in events[: last + 1]:
            before = [one for one in frozen if _is_frozen_part(source, one, event)]
            if event.what == "train" and event.source is source and event.detail == "" and before:
                yield source.hit(
                    event.node,
                    "batch norm in the frozen part goes on updating its statistics in train mode: put that part into eval() "
                    "behind this line",
                )
                break


def _is_frozen_part(source: Source, freeze: Event, train: Event) -> bool:
    """Whether what is frozen holds batch norm, and the mode is set on it or on what it is a part of."""
    node: ast.expr | None = freeze.expr
    if isinstance(node, ast.Name):  # `for p in model.backbone.parameters(): p.requires_grad = False`
        loop = next((one for one in freeze.loops[::-1] if isinstance(one, ast.For)), None)
        call = loop.iter if loop is not None else None
        named = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "parameters"
        node = call.func.value if named else node  # type: ignore[union-attr]  # named says so
    if node is None or freeze.conditions or train.owner is None:
        return False
    owner = identity.identity(source, node)
    inside = owner is not None and owner[: len(train.owner)] == train.owner
    return inside and any(_has_batchnorm(source, value.name, value.items) for value in source.values(node))


def _has_batchnorm(source: Source, name: str, items: tuple[tuple[object, ...], ...]) -> bool:
    if _WITH_BN.match(name) or name.startswith("torch.nn.BatchNorm"):
        return True
    return any(_has_batchnorm(source, one.name, one.items) for group in items for one in group)  # type: ignore[attr-defined]  # Values


def _kept_in_eval(source: Source, events: tuple[Event, ...]) -> bool:
    """Whether some part is put into eval mode beside the whole, by a call, by `apply`, or by an own `train`."""
    parts = [event for event in events if event.what == "eval" and event.owner is not None and len(event.owner) > 2]
    own = any(node.name == "train" for node in source.all(ast.FunctionDef))
    return bool(parts) or own or "BatchNorm" in "".join(source.code(one) for one in source.calls("isinstance"))


def watch(step: Step) -> Alarm | None:
    for root in step.run.roots if step.number in (3, 10, 30) else ():
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
            ):
                return Alarm(
                    f"the parameters of `{name}` are frozen and its running statistics are not; put it into eval()",
                    at=root.place,
                )
    return None
