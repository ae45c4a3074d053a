"""A call of `ddp.module` goes round DistributedDataParallel: gradients are not averaged.

The wrapper's own `forward` tells its reducer that a backward is coming. `ddp.module(x)`, or a part of it such as
`ddp.module.encoder(x)`, runs the same layers without telling it, and the hooks that should average the gradients do
nothing. Every process then trains a model of its own on its own part of the data, no error is raised, and the checkpoint
of rank 0 has seen one part only.

```python
loss = criterion(ddp(images), labels)
loss.backward()
```

Other methods than `forward` go through the wrapper if `forward` calls them. `ddp.module` is right for saving, for
evaluation without gradients, and under `no_sync` for all but the last backward of an accumulated step.
"""

ROWS = ()
SOURCES = (
    "https://github.com/jingyaogong/minimind/issues/853",
    "https://github.com/intel/e2eAIOK/pull/198",
    "https://github.com/ORNL/HydraGNN/pull/136",
)
TORCH = "2.11, 2.15"
NEEDS = ("two-processes",)
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["apart"] > 0.01
    assert good["apart"] == 0.0
