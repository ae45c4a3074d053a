"""A warm-up `lambda t: t / 10` trains the first epoch at rate 0 and never stops growing.

`LambdaLR` calls the function with 0 when it is built. `t / 10` is 0 there, so the first epoch changes nothing: a tenth
of the warm-up is thrown away, and with a per-epoch schedule a whole epoch of computing. After the tenth epoch the same
function goes on: 1.4 times the rate at epoch 14.

Start above zero and stop at one: `lambda t: min((t + 1) / 10, 1.0)`. Torch has the same as
`LinearLR(optimizer, start_factor=0.1, total_iters=9)`, to be put in front of another schedule with
`SequentialLR(optimizer, [warmup, cosine], milestones=[10])`. A lambda is not saved in the scheduler's `state_dict`.
`torchlore.recipes.schedules.Warmup` wraps any schedule.
"""

ROWS = ("schedule-warmup-lambda",)
SOURCES = ("003:546-550",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    from collections.abc import Callable

    import torch
    from torch.optim.lr_scheduler import LambdaLR, LinearLR, LRScheduler

    assert bad["rates"] == [0.0, 0.1, 0.2, 0.3]
    assert bad["first_epoch_moved"] == 0.0
    assert good["rates"] == [0.1, 0.2, 0.3, 0.4]
    assert float(str(good["first_epoch_moved"])) > 0

    def trace(build: Callable[[torch.optim.Optimizer], LRScheduler], epochs: int) -> list[float]:
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        scheduler, used = build(optimizer), []
        for _ in range(epochs):
            used.append(round(optimizer.param_groups[0]["lr"], 6))
            optimizer.step()
            scheduler.step()
        return used

    assert trace(lambda optimizer: LambdaLR(optimizer, lambda t: t / 10), 15)[14] == 1.4
    linear = trace(lambda optimizer: LinearLR(optimizer, start_factor=0.1, total_iters=9), 12)
    assert linear == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0]
