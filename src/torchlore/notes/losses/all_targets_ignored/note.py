"""A batch in which every label is ignored has the loss NaN: zero divided by zero.

Labels equal to `ignore_index` (-100 unless you set it) add nothing to the loss or its gradient, and the mean runs over the
rest. When nothing is left, the mean is 0/0. The gradient is NaN or 0 depending on the path, and the NaN in the logged
average hides the epoch: `if loss < best` is never true again. Taking `reduction="none"` and `.mean()` instead divides by
all labels, the ignored ones too, and gives a smaller number.

Divide by the labels that count, but at least by one, which `torchlore.recipes.losses` does:

```python
each = F.cross_entropy(logits, labels, ignore_index=255, reduction="sum")
loss = each / (labels != 255).sum().clamp(min=1)
```

A label outside 0..C-1 that is not the ignored one raises on the CPU and kills the CUDA context on a GPU: say
`ignore_index=255` if your masks use 255.
"""

import math
from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ("loss-ce-ignore",)
SOURCES = ("000:29", "002:85")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch.nn import functional as F

    from torchlore.notes.proof import error_of

    assert math.isnan(bad["average"])
    assert 0 < good["average"] < 2

    logits = torch.randn(4, 3, requires_grad=True)
    labels = torch.tensor([0, 2, -100, -100])
    mean = F.cross_entropy(logits, labels)
    mean.backward()
    assert logits.grad is not None
    assert (logits.grad[2:] == 0).all()
    assert torch.allclose(mean, F.cross_entropy(logits[:2], labels[:2]))
    assert F.cross_entropy(logits, labels, reduction="none").mean() < mean
    assert error_of(lambda: F.cross_entropy(logits, torch.tensor([0, 2, 255, 255]))) == "IndexError"


def watch(call: Annotated[Call, "cross_entropy", "nll_loss"]) -> Alarm | None:
    target, ignored = call.target, call.argument(4, "ignore_index", -100)
    if target is None or target.is_floating_point() or target.device.type != "cpu" or not target.numel():
        return None
    mean = call.argument(6, "reduction", "mean") == "mean" and not call.result.dim()
    if not mean or not math.isnan(float(call.result)) or not bool((target == ignored).all()):
        return None
    return Alarm(
        f"all {target.numel()} labels of this batch are {ignored}, which is ignored, and the mean of nothing is NaN; "
        "divide the sum by the labels that count, but at least by one",
        evidence=f"cross-entropy of a target of shape {tuple(target.shape)}",
    )
