"""Modules in a plain list or dict are invisible: not trained, not moved, not saved.

`nn.Module` registers what is assigned to an attribute if it is a Module or a Parameter. A Python list or dict is neither:
`parameters()`, `to()`, `state_dict()` and `train()` pass over the layers in it, the optimizer never gets them, and the
network learns with the rest.

A list of dropouts has no parameters, but `eval()` does not reach it either: they go on dropping. And a loop that calls
`add_module("head", head)` under one name keeps the last head only.

Use `nn.ModuleList`, `nn.ModuleDict` (or `nn.Sequential`, `nn.ParameterList` for parameters).
"""

from collections.abc import Iterator
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call, assignment

ROWS = ("module-modulelist",)
SOURCES = (
    "004:85-88",
    "https://github.com/pytorch/pytorch/issues/715",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["parameters"] == 2
    assert good["parameters"] == 8


def watch(call: Annotated[Call, "forward"]) -> Iterator[Alarm]:
    if not call.times(1, call.memory.get("times", 0) < 3):
        return
    known, held = {id(one) for one in call.owner.modules()}, call.run.held()
    for module in call.owner.modules():
        for name, kept in vars(module).items():
            inside = kept.values() if isinstance(kept, dict) else kept if isinstance(kept, list | tuple) else ()
            lost = [one for one in inside if hasattr(one, "named_parameters") and id(one) not in known]
            free = [p for one in lost for p in one.parameters() if p.requires_grad and id(p) not in held]
            awake = [one for one in lost if not module.training and "Dropout" in type(one).__name__ and one.training]
            if not (free and not name.startswith("_")) and not any(one.p for one in awake):
                continue
            what, use = type(kept).__name__, "nn.ModuleDict" if isinstance(kept, dict) else "nn.ModuleList"
            does = "nobody trains, moves or saves them" if free else "eval() does not reach them, they go on dropping"
            told = f"{type(module).__name__}.{name} is a plain {what} of modules: {does}; use {use}"
            counted = (
                f"{len(free)} parameters in {len(lost)} modules" if free else f"{len(awake)} dropouts in train mode"
            )
            yield Alarm(told, at=assignment(type(module), name), evidence=counted)
