"""Step the scheduler after the optimizer: cosine then runs from lr to nearly 0, as it should.

`CosineAnnealingLR(optimizer, T_max=80)` gives the full rate to the first of 80 epochs and 0.0004 of it to the last;
`MultiStepLR(milestones=[50, 70])` trains epochs 0 to 49 at the full rate. That is in the order of today:
`optimizer.step()` first, `scheduler.step()` at the end of the epoch. Old listings call the scheduler at the start of
the epoch, as before torch 1.1: everything happens one epoch early, cosine never uses the full rate and trains its last
epoch at 0, and torch warns once.

```python
for epoch in range(80):
    train(...)
    scheduler.step()
```
"""

ROWS = ("schedule-cosine", "schedule-multistep", "schedule-order")
SOURCES = ("003:538-544",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim() -> None:
    import warnings

    import torch
    from torch.optim.lr_scheduler import CosineAnnealingLR, LRScheduler, MultiStepLR

    from torchlore.recipes import schedules

    def rates(kind: type[LRScheduler], scheduler_first: bool, **how: object) -> tuple[list[float], int]:
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        scheduler, used = kind(optimizer, **how), []  # type: ignore[arg-type]  # either kind's own settings
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for _ in range(80):
                if scheduler_first:
                    scheduler.step()
                used.append(optimizer.param_groups[0]["lr"])
                optimizer.step()
                if not scheduler_first:
                    scheduler.step()
        return used, len(seen)

    right, silent = rates(CosineAnnealingLR, scheduler_first=False, T_max=80)
    early, warned = rates(CosineAnnealingLR, scheduler_first=True, T_max=80)
    assert (silent, warned) == (0, 1)
    assert right[0] == 1.0
    assert 3e-4 < right[-1] < 4e-4
    assert early[0] < 1.0
    assert abs(early[-1]) < 1e-9  # a whole epoch at no rate
    ours = schedules.values(schedules.Cosine(80), 80)
    assert max(abs(a - b) for a, b in zip(ours, right, strict=True)) < 1e-12

    right, _ = rates(MultiStepLR, scheduler_first=False, milestones=[50, 70], gamma=0.1)
    early, _ = rates(MultiStepLR, scheduler_first=True, milestones=[50, 70], gamma=0.1)
    assert right.index(0.1) == 50
    assert early.index(0.1) == 49
    assert schedules.values(schedules.MultiStep((50, 70)), 80).index(0.1) == 50
