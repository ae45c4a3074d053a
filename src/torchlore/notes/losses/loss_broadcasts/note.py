"""A loss of (N, 1) against (N) compares every prediction with every target: N x N differences.

`mse_loss`, `l1_loss`, `smooth_l1_loss` and `huber_loss` broadcast. Predictions of shape (N, 1) and targets of shape (N)
meet as an N x N table, and its mean is smallest where every prediction is the mean target. Training runs, the loss even
falls, and the model predicts one number. There is only a warning, once, which a progress bar hides.

Give both the same shape: `prediction.squeeze(-1)`, or `target.unsqueeze(1)`. A bare `squeeze()` would also drop a batch
of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, losses, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = (
    "https://discuss.pytorch.org/t/target-size-torch-size-16-must-be-the-same-as-input-size-torch-size-16-1/77487",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_LOSSES = ("MSELoss", "mse_loss", "L1Loss", "l1_loss", "SmoothL1Loss", "smooth_l1_loss", "HuberLoss", "huber_loss")


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert good["spread"] > 10 * bad["spread"]  # the bad model predicts nearly one number
    assert good["error"] < bad["error"] / 5


def find(source: Source) -> Iterator[Hit]:
    for loss in losses.loss_calls(source, *_LOSSES):
        if loss.input is None or loss.target is None:
            continue
        column, flat = (values.shape(source, one) for one in (loss.input, loss.target))
        if column is None or flat is None:
            continue
        for wide, narrow, which in ((column, flat, loss.input), (flat, column, loss.target)):
            if len(wide) == 2 and wide[1] == 1 and len(narrow) == 1 and narrow[0] not in (None, 1):
                code = source.code(which)
                fix = edits.method(source, which, "squeeze(-1)")
                told = f"`{code}` has shape (N, 1) and meets (N): the loss compares each with every other; write `{code}.squeeze(-1)`"
                yield source.hit(loss.call, told, *fix)
                break
