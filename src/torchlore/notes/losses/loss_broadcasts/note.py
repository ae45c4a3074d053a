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

from torchlore.check import dims, edits, losses, tree, values
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
    if "Linear" not in source.text and "squeeze" not in source.text and "view" not in source.text:
        return
    seen = set[int]()
    for loss in losses.loss_calls(source, *_LOSSES):
        if loss.input is not None and loss.target is not None:
            which = next((a for a, b in _both(loss.input, loss.target) if _meet(source, a, b)), None)
            if which is not None:
                code = source.code(which)
                fix = edits.method(source, which, "squeeze(-1)")
                told = f"`{code}` has shape (N, 1) and meets (N): the loss compares each with every other; write `{code}.squeeze(-1)`"
                seen.add(loss.call.lineno)
                yield source.hit(loss.call, told, *fix)
    for one in source.all(ast.BinOp) if "Linear" in source.text else ():
        if isinstance(one.op, ast.Sub | ast.Add) and one.lineno not in seen and tree.literal(one.right) != 0:
            wide = next((a for a, b in _both(one.left, one.right) if _given(source, a) and _meet(source, a, b)), None)
            if wide is not None:
                seen.add(one.lineno)
                code = source.code(wide)
                told = (
                    f"`{code}` has shape (N, 1) and meets (N), which gives a table of N x N; write `{code}.squeeze(-1)`"
                )
                yield source.hit(one, told, *edits.method(source, wide, "squeeze(-1)"), safe=False)


def _both(one: ast.expr, other: ast.expr) -> tuple[tuple[ast.expr, ast.expr], tuple[ast.expr, ast.expr]]:
    return (one, other), (other, one)


def _given(source: Source, node: ast.expr) -> bool:
    """Whether a network gave it, also times a number: a column that is made so is meant to meet a row."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _given(source, node.left) or _given(source, node.right)
    asked = isinstance(node, ast.Name | ast.Call | ast.Attribute)
    return asked and any(one.name.startswith("torch.nn.") for one in source.values(node))


def _meet(source: Source, column: ast.expr, flat: ast.expr) -> bool:
    """Whether one is surely a column, and the other surely a row of more than one number."""
    wide = values.shape(source, column)
    if wide is None or len(wide) != 2 or wide[1] != 1:
        return False
    narrow = values.shape(source, flat)
    if narrow is not None:
        return len(narrow) == 1 and narrow[0] not in (None, 1)
    return dims.dims(source, flat) == 1
