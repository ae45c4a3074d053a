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

ROWS = ()
SOURCES = ("https://github.com/YU1ut/MixMatch-pytorch/issues/16",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["error"] < 1
    assert bad["error"] > 5
