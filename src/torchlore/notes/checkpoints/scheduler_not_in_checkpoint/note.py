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

ROWS = ("ckpt-resume", "ckpt-save-best")
SOURCES = ("003:552-578",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, list[float]], good: dict[str, list[float]]) -> None:
    assert good["resumed"] == good["uninterrupted"]
    assert bad["uninterrupted"] == good["uninterrupted"]
    assert all(a > 1.2 * b for a, b in zip(bad["resumed"][1:], bad["uninterrupted"][1:], strict=True))
