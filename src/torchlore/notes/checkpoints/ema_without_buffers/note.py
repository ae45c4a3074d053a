"""An average of the parameters alone leaves batch norm's statistics as they began: copy the buffers.

`parameters()` holds no `running_mean` and `running_var`; they are buffers. A moving average made with `zip(ema.parameters(),
model.parameters())` has trained weights and the statistics of the day it was copied, mean 0 and variance 1. In evaluation mode
such a network gives nonsense, or is a few points worse and nobody knows why.

```python
for ours, theirs in zip(ema.buffers(), model.buffers(), strict=True):
    ours.copy_(theirs)
```

`torch.optim.swa_utils.AveragedModel(model, use_buffers=True)` does both. A teacher that is itself run in training mode keeps its own.
"""

import ast
from collections.abc import Iterator

from torchlore.check import averages, classes, frameworks, modules, project
from torchlore.check.identity import Identity, identity
from torchlore.check.source import Hit, Source
from torchlore.check.tree import receiver

ROWS = ()
SOURCES = ("https://github.com/YU1ut/MixMatch-pytorch/issues/16",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_CARES = (
    "buffers(",
    "update_bn",
    "running_mean",
    "state_dict().",
    "state_dict().items",
    "AveragedModel",
    "copy_buffers",
)


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["error"] < 1
    assert bad["error"] > 5


def find(source: Source) -> Iterator[Hit]:
    if "BatchNorm" not in source.text and "torchvision" not in source.text:
        return
    if any(word in source.text for word in _CARES) or "zip(" not in source.text:
        return
    for one in averages.averages(source):
        owner = identity(source, one.average)
        judged = owner is not None and any(owner in _judged(source, call) for call in source.methods("eval"))
        judged = judged or _judged_whole(source, one.loop)
        if judged and not frameworks.owned(source, one.loop) and _normalises(source, one.average, one.model):
            code = source.code(one.average)
            told = (
                f"`{code}` gets the weights and keeps its first batch norm statistics: copy `{code}.buffers()` as well"
            )
            yield source.hit(one.loop, told)


def _judged(source: Source, call: ast.Call) -> list[Identity | None]:
    """The nets `x.eval()` is said of: `x`, and what is given the result."""
    up = source.parents[call]
    given = up.targets if isinstance(up, ast.Assign) and up.value is call else []
    return [identity(source, one) for one in (receiver(call), *given)]


def _judged_whole(source: Source, loop: ast.For) -> bool:
    """Whether `eval()` is said of the wrapper whose method moves the average."""
    home = project.enclosing_class(source, loop)
    made = [one for call in source.methods("eval") for one in source.values(receiver(call))] if home is not None else []
    return any(classes.class_behind(source, one) == home for one in made)


def _normalises(source: Source, *nets: ast.expr) -> bool:
    """Whether the net surely has layers that differ between training and evaluation."""
    found = [value for net in nets for value in source.values(net)]
    return any(modules.mode_layers(source, value) is True for value in found)
