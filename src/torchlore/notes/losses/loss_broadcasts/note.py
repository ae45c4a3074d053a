"""A loss of (N, 1) against (N) compares every prediction with every target: N x N differences.

`mse_loss`, `l1_loss`, `smooth_l1_loss` and `huber_loss` broadcast. Predictions of shape (N, 1) and targets of shape (N)
meet as an N x N table, and its mean is smallest where every prediction is the mean target. Training runs, the loss even
falls, and the model predicts one number. There is only a warning, once, which a progress bar hides.

Give both the same shape: `prediction.squeeze(-1)`, or `target.unsqueeze(1)`. A bare `squeeze()` would also drop a batch
of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from torchlore.check import edits, losses, values
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

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


def watch(
    call: Annotated[Call, "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "sub", "__rsub__"],
) -> Alarm | None:
    given, target = call.input, call.target
    if (
        given is None
        or not hasattr(target, "numel")
        or given.shape == target.shape
        or 1 in (given.numel(), target.numel())
    ):
        return None
    sizes, by_hand = sorted((tuple(given.shape), tuple(target.shape)), key=len), call.name in ("sub", "__rsub__")
    if by_hand and (len(sizes[0]) != 1 or sizes[1] != (*sizes[0], 1) or given.requires_grad is target.requires_grad):
        return None  # differences of all pairs are often wanted; of predictions and targets never
    shapes = f"{tuple(given.shape)} against {tuple(target.shape)}"
    grown = max(given.numel(), target.numel())
    if call.result is not None and {given.ndim, target.ndim} == {1, 2}:
        grown = given.numel() * target.numel()
    told = f"{call.name} gets {shapes} and compares {grown} pairs; give both the same shape, such as prediction.squeeze(-1)"
    return Alarm(told, evidence=shapes)
