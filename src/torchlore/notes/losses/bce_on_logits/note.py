"""BCELoss takes probabilities: a layer's raw output is an error outside [0, 1] and wrong inside it.

`nn.BCELoss` computes `-y log(p) - (1 - y) log(1 - p)` of what it is given. Fed the output of a linear layer it raises as
soon as a value leaves [0, 1]; while the values happen to stay inside, it trains on numbers that are no probabilities.

Give the raw output to the loss that applies the sigmoid itself, in a form that does not overflow:

```python
criterion = nn.BCEWithLogitsLoss()
```

For a decision afterwards, compare the raw output with 0, not with 0.5.
"""

from __future__ import annotations

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://discuss.pytorch.org/t/bceloss-vs-bcewithlogitsloss/33586",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_LAYERS = ("addmm", "mm", "convolution", "logsoftmax", "bmm", "nativelayernorm", "nativebatchnorm")


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["accuracy"] < good["accuracy"]
    assert bad["error"] == "RuntimeError"
    assert good["error"] == ""


def watch(call: Annotated[Call, "binary_cross_entropy"]) -> Alarm | None:
    maker = call.made_by(call.input)
    if maker not in _LAYERS:
        return None
    return Alarm(
        "binary_cross_entropy takes probabilities but gets a layer's raw output; use BCEWithLogitsLoss",
        evidence=f"its input of shape {tuple(call.input.shape)} was made by {maker}",
    )
