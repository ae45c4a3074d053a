"""TensorBoard's writer is part of torch: torch.utils.tensorboard, not tensorboardX.

Both write the same files and have the same `SummaryWriter`, but `tensorboardX` is another project by other people.
Code that mixes them up imports what is not installed. `torch.utils.tensorboard` needs the package `tensorboard`
beside torch, and importing it takes seconds: do it inside the function that logs, not at the top of a library.

```python
from torch.utils.tensorboard import SummaryWriter

with SummaryWriter(run_folder) as writer:   # the same folder when a run goes on
    writer.add_scalar("loss/train", loss.item(), step)
```

Give the step each time; without it every point lands on step 0. After a resume `SummaryWriter(folder, purge_step=n)`
hides what the lost part of the run wrote from step `n` on.
"""

ROWS = ("vis-tensorboard",)
SOURCES = ("003:494",)
TORCH = "2.11, 2.15"
NEEDS = ("tensorboard",)


def claim() -> None:
    import tempfile

    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from torch.utils.tensorboard import SummaryWriter

    with tempfile.TemporaryDirectory() as folder:
        with SummaryWriter(folder) as writer:
            for step in range(5):
                writer.add_scalar("loss/train", 1 / (step + 1), step)
                writer.add_scalar("no_step", step)
        with SummaryWriter(folder, purge_step=3) as writer:  # goes on from step 3
            writer.add_scalar("loss/train", 9.0, 3)
        events = EventAccumulator(folder).Reload()
        assert [(e.step, round(e.value, 2)) for e in events.Scalars("loss/train")] == [
            (0, 1),
            (1, 0.5),
            (2, 0.33),
            (3, 9),
        ]
        assert {e.step for e in events.Scalars("no_step")} == {0}
