"""A loss of (N, 1) against (N) compares every prediction with every target: N x N differences.

`mse_loss`, `l1_loss`, `smooth_l1_loss` and `huber_loss` broadcast. Predictions of shape (N, 1) and targets of shape (N)
meet as an N x N table, and its mean is smallest where every prediction is the mean target. Training runs, the loss even
falls, and the model predicts one number. There is only a warning, once, which a progress bar hides.

Give both the same shape: `prediction.squeeze(-1)`, or `target.unsqueeze(1)`. A bare `squeeze()` would also drop a batch
of one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, losses, tree, values
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
    if any(source.methods("backward")):
        yield from _by_hand(source)


def _by_hand(source: Source) -> Iterator[Hit]:
    """`((model(x) - y) ** 2).mean()`: a linear layer's (N, 1) less (N)."""
    for one in source.all(ast.BinOp):
        if not isinstance(one.op, ast.Sub) or not _is_averaged(source, one):
            continue
        for wide, narrow in ((one.left, one.right), (one.right, one.left)):
            given, flat = source.values(wide), values.shape(source, narrow)
            made = bool(given) and all(
                v.state == "logits" and v.shape is not None and v.shape[1:] == (1,) for v in given
            )
            if made and flat is not None and len(flat) == 1 and flat[0] not in (None, 1):
                code = source.code(wide)
                told = f"`{code}` has shape (N, 1) and meets (N): each is compared with every other; write `{code}.squeeze(-1)`"
                yield source.hit(one, told, *edits.method(source, wide, "squeeze(-1)"))
                break


def _is_averaged(source: Source, node: ast.expr) -> bool:
    """Whether the mean or sum of a power or size of it is taken, in the same statement."""
    ups = list(tree.ancestors(source, node))[:8]
    powers = any(isinstance(up, ast.BinOp) and isinstance(up.op, ast.Pow) for up in ups)
    names = {up.func.attr for up in ups if isinstance(up, ast.Call) and isinstance(up.func, ast.Attribute)}
    return bool(names & {"mean", "sum"}) and (powers or bool(names & {"pow", "square", "abs"}))
