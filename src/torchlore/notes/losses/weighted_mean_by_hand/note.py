"""With class weights, `reduction="mean"` divides by the weights of the labels, not by their number.

`nn.CrossEntropyLoss(weight=w)` returns `sum(w[y] * loss) / sum(w[y])`. Taking `reduction="none"` and `.mean()` instead
divides by the number of samples: another number and another gradient, which grows and shrinks with how many rare labels
a batch happens to hold. Two runs that differ in this line only are not at the same learning rate.

`weight` is one number a class, of shape (C,). Either let torch take the mean, or divide by what it divides by:

```python
each = F.cross_entropy(logits, labels, weight=w, reduction="none")
loss = each.sum() / w[labels].sum()
```
"""

import ast
from collections.abc import Iterator

from torchlore.check import scopes, tree, uses, values
from torchlore.check.source import Hit, Source

_FUNCTIONS = ("torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss")

ROWS = ("loss-ce-weight",)
SOURCES = ("000:28", "002:81-83", "001:68")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, list[float]], good: dict[str, list[float]]) -> None:
    import torch
    from torch import nn
    from torch.nn import functional as F

    from torchlore.notes.proof import error_of

    # a constant guess: the weighted mean of the loss does not depend on the labels drawn, the plain mean does
    assert max(good["losses"]) - min(good["losses"]) < 1e-4
    assert max(bad["losses"]) > 1.2 * min(bad["losses"])

    logits, labels, weight = torch.randn(9, 3), torch.randint(0, 3, (9,)), torch.tensor([1.0, 2.0, 10.0])
    mean = nn.CrossEntropyLoss(weight=weight)(logits, labels)
    each = F.cross_entropy(logits, labels, weight=weight, reduction="none")
    assert not torch.allclose(mean, each.mean())
    assert torch.allclose(mean, each.sum() / weight[labels].sum())
    assert error_of(lambda: F.cross_entropy(logits, labels, weight=weight[:2])) == "RuntimeError"


WORDS = ("reduction", "mean")


def find(source: Source) -> Iterator[Hit]:
    kept = any(tree.literal(one.value) == "none" for one in uses.keywords(source, "reduction"))
    for call in source.methods("mean") if kept else ():
        inner = tree.receiver(call)
        if isinstance(inner, ast.Name):
            bindings = scopes.reaching(source, inner)
            inner = bindings[0].value or inner if len(bindings) == 1 and bindings[0].how == "assign" else inner
        if isinstance(inner, ast.Call) and not call.args and not call.keywords and _weighted(source, inner):
            message = 'this divides by the number of labels, not by their weights: use `reduction="mean"` or divide by `weight[labels].sum()`'
            yield source.hit(call, message)


def _weighted(source: Source, call: ast.Call) -> bool:
    """Whether this is a cross-entropy with class weights that is not reduced."""
    made: ast.AST | None = call
    if source.name(call.func) not in _FUNCTIONS:
        loss = values.made_by(source, call.func, "torch.nn.CrossEntropyLoss", "torch.nn.NLLLoss")
        made = loss.node if loss is not None and loss.source is source else None
    if not isinstance(made, ast.Call):
        return False
    first = 0 if made is not call else 2
    weight = tree.argument(made, first, "weight")
    given = weight is not None and values.sure(source, weight, "tensor")
    return given and tree.literal(tree.argument(made, None, "reduction")) == "none"
