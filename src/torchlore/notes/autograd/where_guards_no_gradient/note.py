"""torch.where does not protect the gradient: the branch that was not taken still sends back NaN.

`torch.where(x > 0, torch.sqrt(x), 0)` has the right values. Backward, the masked elements get a gradient of 0 times the
infinite slope of the square root at 0, which is NaN, and one NaN is enough for all weights. Multiplying by a mask does
the same; so do `log`, `acos` and a division in the branch, and an `exp` that overflows.

Make the input harmless before the operation, then choose:

```python
safe = torch.where(x > 0, x, 1.0)
y = torch.where(x > 0, torch.sqrt(safe), 0.0)
```

Or clamp it: `torch.sqrt(x.clamp(min=1e-12))`.
"""

from typing import Any

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/68425", "https://github.com/pytorch/pytorch/issues/187297")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    assert bad["values"] == good["values"]  # forward is right in both
    assert bad["nan_gradients"] > 0
    assert good["nan_gradients"] == 0
    x = torch.zeros(1, device=device, requires_grad=True)
    (torch.sqrt(x) * (x > 0)).sum().backward()  # a mask is no better
    assert x.grad is not None
    assert x.grad.isnan().all()
