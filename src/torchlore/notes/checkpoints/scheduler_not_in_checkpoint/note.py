"""A checkpoint without the scheduler resumes at the wrong learning rate.

Model and optimizer are saved, the scheduler is forgotten. On resume a new scheduler is built: it counts from 0 again,
and starts from the rate it finds in the optimizer, or in the constructor. The run goes on at a rate that the
uninterrupted run never had; nothing says so. The same holds for the random state, the scaler of mixed precision and the
position in the data.

```python
checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict(),
              "scheduler": scheduler.state_dict(), "epoch": epoch + 1}
...
scheduler.load_state_dict(checkpoint["scheduler"])
```

`torchlore.recipes.checkpoint` saves all of them and restores them in the right order.
"""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ("ckpt-resume", "ckpt-save-best")
SOURCES = ("003:552-578",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, list[float]], good: dict[str, list[float]]) -> None:
    assert good["resumed"] == good["uninterrupted"]
    assert bad["uninterrupted"] == good["uninterrupted"]
    assert all(a > 1.2 * b for a, b in zip(bad["resumed"][1:], bad["uninterrupted"][1:], strict=True))


def watch(call: Annotated[Call, "torch.save"]) -> Alarm | None:
    given = call.argument(0, "obj")
    parts = [part for part in given.values() if isinstance(part, dict)] if isinstance(given, dict) else []
    stepped = [one for one in call.run.schedulers if one.steps and one.thing is not None]
    if not stepped or not any({"state", "param_groups"} <= part.keys() for part in parts):
        return None
    if any("sched" in str(key).lower() for key in given) or any("last_epoch" in part for part in parts):
        return None
    kind = type(stepped[0].thing).__name__
    return Alarm(
        f"the optimizer is saved without its {kind}, so a resumed run starts the schedule again; save its state_dict() too"
    )
