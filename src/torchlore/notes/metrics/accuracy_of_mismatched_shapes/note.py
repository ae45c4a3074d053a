"""Comparing (N,) predictions with (N, 1) labels counts N x N pairs: accuracies of 300 % are possible.

`(prediction == labels).sum() / N` is right when both have the shape (N,). With labels of shape (N, 1) the comparison
broadcasts to N x N; the sum is divided by N all the same, and the number looks like an accuracy as long as the classes
are many. An empty batch divides by zero, and a NaN among the scores wins the argmax.

Compare equal shapes: `labels.view(-1)` or `labels.squeeze(1)`, or use `torchlore.recipes.metrics.accuracy`, which
refuses anything else. Beware of torchmetrics' `MulticlassAccuracy`: its default is the macro average, the mean of the
classes' accuracies; `average="micro"` is the share of right answers.
"""

import ast
from collections.abc import Iterator

from torchlore.check import tree
from torchlore.check.source import Hit, Source

ROWS = ("metrics-accuracy-batch",)
SOURCES = ("003:484-490",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch

    from torchlore.notes.proof import error_of
    from torchlore.recipes.metrics import accuracy

    assert bad["accuracy"] > 1.0
    assert good["accuracy"] == 0.75

    scores, labels = torch.tensor([[2.0, 1.0], [0.0, 3.0]]), torch.tensor([0, 0])
    assert float(accuracy(scores, labels)) == 0.5
    assert error_of(lambda: accuracy(scores, labels.unsqueeze(1))) == "ValueError"
    assert int(torch.tensor([1.0, float("nan"), 9.0]).argmax()) == 1


_INDEX = ("torch.argmax", "torch.Tensor.argmax", "torch.max.indices", "torch.Tensor.max.indices")
_TARGETED = {
    f"torch.nn.{name}" for name in ("functional.cross_entropy", "functional.nll_loss", "CrossEntropyLoss", "NLLLoss")
}


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("argmax", "max")):
        return
    compared = [(one, one.left, one.comparators[:1]) for one in source.all(ast.Compare)
                if isinstance(one.ops[0], ast.Eq | ast.NotEq)]  # fmt: skip
    methods = [(one, tree.receiver(one), one.args[:1]) for one in source.methods("eq", "ne")]
    for one, left, right in (*compared, *methods):
        for index, label in ((left, right[0]), (right[0], left)) if right else ():
            kept = _keeps(source, index)
            if (kept is False and _is_column(source, label)) or (kept and _is_target(source, label)):
                code = source.code(label)
                mend = f"{code}.view_as({source.code(index)})" if kept else f"{code}.squeeze(1)"
                message = "(N,) meets (N, 1) and every prediction is compared with every label"
                yield source.hit(one, f"{message}: write `{mend}`")


def _keeps(source: Source, node: ast.expr) -> bool | None:
    """Whether the class index keeps its dimension; None where it is no class index."""
    calls = [value.node for value in source.values(node) if value.name in _INDEX and value.source is source]
    if not calls or len(calls) != len(source.values(node)) or not isinstance(calls[0], ast.Call):
        return None
    call, offset = calls[0], 0 if isinstance(calls[0].func, ast.Attribute) and not source.name(calls[0].func) else 1
    if tree.literal(tree.argument(call, offset, "dim")) not in (1, -1):
        return None
    return (
        not tree.lacks(call, offset + 1, "keepdim") and tree.literal(tree.argument(call, offset + 1, "keepdim")) is True
    )


def _is_column(source: Source, node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        given = tuple(tree.literal(one) for one in node.args)
        return (node.func.attr, given) in {
            ("unsqueeze", (1,)),
            ("unsqueeze", (-1,)),
            ("view", (-1, 1)),
            ("reshape", (-1, 1)),
        }
    made = [one.node for one in source.values(node) if one.name in ("torch.tensor", "torch.LongTensor")]
    rows = tree.literal(made[0].args[0]) if len(made) == 1 and isinstance(made[0], ast.Call) and made[0].args else None
    return isinstance(rows, tuple) and len(rows) > 1 and all(isinstance(row, tuple) and len(row) == 1 for row in rows)


def _is_target(source: Source, node: ast.expr) -> bool:
    """Whether the same name is the target of a loss that takes labels of shape (N,)."""
    home, code = tree.function(source, node), tree.dotted(node)
    for call in source.all(ast.Call) if code else ():
        if len(call.args) > 1 and tree.dotted(call.args[1]) == code and tree.function(source, call) is home:
            made = {source.name(call.func), *(value.name for value in source.values(call.func))}
            if made & _TARGETED:
                return True
    return False
