"""With `batch_first=True`, `out[-1]` is the last sample of the batch, not the last time step.

The output of an RNN with `batch_first=True` has the shape (batch, time, features), so `out[-1]` is every time step of one
sample. If the batch is as long as the sequence, or the loss broadcasts, nothing raises, and each label is learned from a time
step of somebody else.

Write `out[:, -1]`, or take the last hidden state, `h_n[-1]`, which has the layers first in either layout.
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, grouped, scopes, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/yunjey/pytorch-tutorial/issues/151",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_RNNS = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["depends_on_itself"] == 0
    assert good["depends_on_itself"] > 0


def find(source: Source) -> Iterator[Hit]:
    for taken in (one for kind in (ast.UnaryOp, ast.BinOp, ast.Tuple) for one in grouped.indexed(source, kind)):
        parts = taken.slice.elts if isinstance(taken.slice, ast.Tuple) else [taken.slice]
        if not parts or not isinstance(parts[0], ast.UnaryOp | ast.BinOp) or tree.literal(parts[0]) != -1:  # `x[()]`
            continue
        rest = all(isinstance(one, ast.Slice) and one.lower is one.upper is None for one in parts[1:])
        if not rest or not _batch_first(source, taken.value):
            continue
        code = source.code(taken.value)
        edit = edits.replace(source, taken, f"{code}[:, -1]")
        message = f"`{source.code(taken)}` is the last sample of the batch, the batch comes first: write `{edit.text}`"
        yield source.hit(taken, message, edit)


def _batch_first(source: Source, node: ast.expr) -> bool:
    """Whether this is the output sequence of an RNN whose batch comes first."""
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    call = bound[0].value if len(bound) == 1 and bound[0].how == "assign" and bound[0].path == (0,) else None
    made = values.made_by(source, call.func, *_RNNS) if isinstance(call, ast.Call) else None
    if made is None or not isinstance(made.node, ast.Call):
        return False
    return tree.literal(tree.argument(made.node, None, "batch_first")) is True
