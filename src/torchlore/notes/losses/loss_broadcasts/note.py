"""A loss of (N, 1) against (N) compares every prediction with every target: N x N differences.

`mse_loss`, `l1_loss`, `smooth_l1_loss` and `huber_loss` broadcast. Predictions of shape (N, 1) and targets of shape (N)
meet as an N x N table, and its mean is smallest where every prediction is the mean target. Training runs, the loss even
falls, and the model predicts one number. There is only a warning, once, which a progress bar hides.

Give both the same shape: `prediction.squeeze(-1)`, or `target.unsqueeze(1)`. A bare `squeeze()` would also drop a batch
of one.
"""

from __future__ import annotations

from typing import Any

ROWS = ()
SOURCES = (
    "https://discuss.pytorch.org/t/target-size-torch-size-16-must-be-the-same-as-input-size-torch-size-16-1/77487",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert good["spread"] > 10 * bad["spread"]  # the bad model predicts nearly one number
    assert good["error"] < bad["error"] / 5
