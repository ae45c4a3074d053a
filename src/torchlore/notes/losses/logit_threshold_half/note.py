"""Raw outputs are compared with 0, not with 0.5: a logit of 0.5 is a probability of 0.62.

With `BCEWithLogitsLoss` the model gives logits. `sigmoid(0) = 0.5`, so "more likely than not" is `logit > 0`. `logit > 0.5` and
`torch.round(logit)` ask for a probability of at least 0.62: positives are missed, recall is too low, and nothing shows it.

```python
predicted = logits > 0
predicted = torch.sigmoid(logits) > 0.5   # the same
```
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, losses, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/FenTechSolutions/CausalDiscoveryToolbox/issues/38",
           "https://github.com/tensorflow/models/issues/3269")  # fmt: skip
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch

    assert bad["recall"] < good["recall"]
    assert good["accuracy"] > bad["accuracy"]
    assert abs(float(torch.tensor(0.5).sigmoid()) - 0.6225) < 1e-4


def find(source: Source) -> Iterator[Hit]:
    yield from _always(source)
    found = losses.loss_calls(source, "BCEWithLogitsLoss", "binary_cross_entropy_with_logits")
    models = {_model(source, loss.input) for loss in found if loss.input is not None} - {""}
    if not models:
        return
    for compare in source.all(ast.Compare):
        half = len(compare.ops) == 1 and tree.literal(compare.comparators[0]) == 0.5
        order = half and isinstance(compare.ops[0], ast.Gt | ast.GtE | ast.Lt | ast.LtE)
        if order and _model(source, compare.left) in models:
            code = source.code(compare.left)
            edit = edits.replace(source, compare.comparators[0], "0")
            message = f"`{code}` holds logits, where 0.5 is a probability of 0.62: compare with 0"
            yield source.hit(compare, message, edit, safe=False)
    for call in (*source.calls("torch.round"), *source.methods("round")):
        scores = call.args[0] if source.name(call.func) and call.args else tree.receiver(call)
        if _model(source, scores) in models:
            yield source.hit(call, f"`{source.code(scores)}` holds logits: round their sigmoid, or write `> 0`")


def _always(source: Source) -> Iterator[Hit]:
    """`sigmoid(x) > 0`: true of every number."""
    for compare in source.all(ast.Compare) if "igmoid" in source.text else ():
        zero = (
            len(compare.ops) == 1 and isinstance(compare.ops[0], ast.Gt) and tree.literal(compare.comparators[0]) == 0
        )
        given = values.state(source, compare.left) if zero else None
        if given is not None and given.state == "sigmoid":
            told = "a sigmoid is above 0 whatever it is given: compare it with 0.5, or what goes into it with 0"
            yield source.hit(compare, told)


def _model(source: Source, node: ast.expr) -> str:
    """The layer or model whose raw output this is; "" if it is none."""
    given = values.state(source, node)
    if given is None or given.state != "logits" or not isinstance(given.node, ast.Call) or given.source is None:
        return ""
    return given.source.code(given.node.func)
