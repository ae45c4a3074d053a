"""A run that resumes with the weights alone goes on with an optimizer that knows nothing.

`torch.save({"model": ..., "optimizer": ..., "epoch": ...})` writes everything, and the resuming code reads the weights and the epoch.
Adam's averages, the momentum and the learning rate that the schedule had reached are in the file and stay there: the first steps
after the restart are as large as the first of all, the loss jumps, and the schedule begins again in the middle of the run. The same
holds where the optimizer was never saved.

Read back all that was written, before training goes on:

```python
checkpoint = torch.load(path, map_location="cpu")
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
scheduler.load_state_dict(checkpoint["scheduler"])
start = checkpoint["epoch"] + 1
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/IntelLabs/distiller/issues/145",
    "https://github.com/PolymathicAI/the_well/pull/63",
    "https://github.com/ultralytics/yolov5/issues/292",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["apart"] == 0
    assert bad["apart"] > 0.01
