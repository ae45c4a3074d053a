"""BatchNorm's `momentum` is the weight of the newest batch: 0.9 or 0.99 forgets all but the last.

Torch updates `running = (1 - momentum) * running + momentum * batch`, with 0.1 as its default. TensorFlow and Keras mean the
other share by the same word: their 0.99 is torch's 0.01. Copied over as it stands, the statistics used in evaluation are those
of the last training batch alone: accuracy in `eval()` jumps from epoch to epoch, while training looks fine.

```python
nn.BatchNorm2d(channels, momentum=0.01)   # Keras: momentum=0.99
```

`momentum=None` takes the plain average over all batches.
"""

import ast
from collections.abc import Iterator
from typing import Annotated

from torchlore.check import edits, scopes, tree
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/pytorch/vision/issues/8250",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_NAMES = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm", "InstanceNorm1d", "InstanceNorm2d",
          "InstanceNorm3d")  # fmt: skip
_LAYERS = tuple(f"torch.nn.{name}" for name in _NAMES)


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch import nn

    assert bad["error"] > 5 * good["error"]
    norm = nn.BatchNorm1d(1, momentum=0.9)
    norm(torch.tensor([[10.0], [20.0]]))
    assert norm.running_mean is not None
    assert abs(float(norm.running_mean) - 0.9 * 15) < 1e-5


def watch(call: Annotated[Call, "forward"]) -> Alarm | None:
    if call.memory.setdefault("looked", 0):
        return None
    call.memory["looked"] = 1
    for name, layer in call.owner.named_modules():
        share = getattr(layer, "momentum", None)
        if (
            "BatchNorm" in type(layer).__name__
            and isinstance(share, float)
            and 0.5 < share < 1
            and layer.training
            and layer.running_mean is not None
        ):
            what = f"`{name}`" if name else type(layer).__name__
            message = (
                f"{what} keeps little but the last batch; what Keras calls {share} is momentum={1 - share:.4g} here"
            )
            return Alarm(message, evidence=f"{type(layer).__name__} with momentum={share}")
    return None


WORDS = ("|".join(_NAMES),)


def find(source: Source) -> Iterator[Hit]:
    partial = [call for call in source.calls("functools.partial") if call.args and source.name(call.args[0]) in _LAYERS]
    for call in (*source.calls(*_LAYERS), *partial):
        given = tree.argument(call, None if call in partial else 2, "momentum")
        share = _number(source, given)
        if given is not None and isinstance(share, float) and 0.5 < share < 1 and _tracks(source, call):
            better = f"{1 - share:.4g}"
            fix = [edits.replace(source, given, better)] if isinstance(given, ast.Constant) else []
            message = f"momentum {share} keeps little but the last batch: what Keras calls {share} is `momentum={better}` here"
            yield source.hit(call, message, *fix, safe=False)


def _tracks(source: Source, call: ast.Call) -> bool:
    """Whether running statistics are kept at all: not with `track_running_stats=False`, instance norm's default."""
    given = tree.argument(call, 4, "track_running_stats")
    instance = "InstanceNorm" in source.code(call)
    return tree.literal(given) is not False if given is not None else not instance


def _number(source: Source, node: ast.expr | None) -> object:
    """The constant, also through a name that is set once."""
    if isinstance(node, ast.Name):
        bindings = scopes.reaching(source, node)
        return tree.literal(bindings[0].value) if len(bindings) == 1 and bindings[0].how == "assign" else None
    return tree.literal(node)
