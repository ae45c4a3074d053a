"""A scheduler takes the optimizer's state without a word, and its own count is gone.

`scheduler.load_state_dict(ckpt["optimizer"])`: the line was copied, the key stayed. A scheduler puts whatever dictionary it is given into its
attributes and asks nothing, so nothing raises; `last_epoch` stays at 0 and the schedule begins again. In the other direction,
`{"model": model.state_dict(), "optimizer": model.state_dict()}` writes a checkpoint without the optimizer, and that is found on the day it
is needed.

One key for each, and the same one on both sides.
"""

ROWS = ()
SOURCES = (
    "https://github.com/bl0/moco/issues/8",
    "https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.LRScheduler.html",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["epoch"] == 0
    assert good["epoch"] == 5
