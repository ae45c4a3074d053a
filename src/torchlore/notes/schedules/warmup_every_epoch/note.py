"""A warm-up that counts the batches of an epoch begins again in every epoch.

`for i, batch in enumerate(loader)` starts at 0 in each epoch. `if i < warmup: lr = base * (i + 1) / warmup` is then no warm-up of the run:
every epoch begins at almost no rate, climbs, and the first hundreds of batches of each epoch are as good as lost. The curve of the loss
has a step at each epoch, which looks like the data.

Count over epochs: `step = epoch * len(loader) + i`, or a counter that nobody sets back. Or warm up in the first epoch only.
"""

ROWS = ()
SOURCES = ("https://github.com/Vision-CAIR/MiniGPT-4/pull/263",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["lowest_in_the_last_epoch"] < 0.03
    assert good["lowest_in_the_last_epoch"] == 0.1
