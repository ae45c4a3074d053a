"""A metric object that is not reset goes on counting: the accuracy of epoch 10 holds those of 1 to 9.

`metric.update(...)` adds to what is there and `metric.compute()` reads it; neither empties it. Computed after each epoch without
`reset()`, the number is a mean over all epochs so far. It lags behind, hides a fall, and the best epoch is found too late.
Lightning resets what is given to `self.log`, a loop of your own does not. The same happens to plain sums: `running_loss = 0.0`
above the loop over epochs, divided by `len(loader)` in each, grows from epoch to epoch.

Call `metric.reset()` after `compute()`, or make the metric where the evaluation begins.
"""

ROWS = ()
SOURCES = ("https://lightning.ai/docs/torchmetrics/stable/pages/overview.html",)
TORCH = "2.11, 2.15"
NEEDS = ("torchmetrics",)
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["last"] == 1.0
    assert bad["last"] == 0.5
