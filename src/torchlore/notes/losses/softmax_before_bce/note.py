"""A softmax before a binary cross-entropy makes the outputs compete and is no cross-entropy.

`BCELoss` asks of each output by itself: yes or no? That is what a sigmoid answers. After a softmax the outputs sum to one,
so two true labels can never both be near 1; and for one true label among C the loss and its gradient differ from those of
cross-entropy. It trains, but to something else, and more slowly.

One label per sample: no softmax, cross-entropy. Several: no sigmoid of your own, BCE with logits.

```python
loss = F.cross_entropy(logits, labels)
loss = F.binary_cross_entropy_with_logits(logits, multi_hot)
```
"""

import ast
from collections.abc import Iterator

from torchlore.check import losses, scopes, tree, values
from torchlore.check.source import Hit, Source

ROWS = ("loss-bce",)
SOURCES = ("001:69",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch.nn import functional as F

    assert good["exact"] > 0.9
    assert bad["exact"] < 0.7
    logits, labels = torch.randn(6, 4), torch.randint(0, 4, (6,))
    hot = F.one_hot(labels, 4).float()
    assert not torch.allclose(F.binary_cross_entropy(logits.softmax(1), hot), F.cross_entropy(logits, labels))


WORDS = (losses.SAID,)


def find(source: Source) -> Iterator[Hit]:
    for loss in losses.loss_calls(source, "BCELoss", "binary_cross_entropy"):
        given = values.state(source, loss.input) if loss.input is not None else None
        if loss.input is None or given is None or given.state != "probs" or _picked(source, loss.input):
            continue
        code = source.code(loss.input)
        message = f"`{code}` comes out of a softmax, whose outputs compete: give the logits to BCEWithLogitsLoss"
        yield source.hit(loss.call, message)


def _picked(source: Source, node: ast.expr, hops: int = 12) -> bool:
    """One class's column of a softmax is a probability like any other."""
    if isinstance(node, ast.Subscript):
        return True
    if not hops:
        return False
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not source.name(node.func):
        picks = node.func.attr in ("select", "gather", "narrow", "index_select")
        return picks or _picked(source, tree.receiver(node), hops - 1)
    if isinstance(node, ast.Name):
        found = [one.value for one in scopes.reaching(source, node) if one.value is not None and one.how == "assign"]
        return any(one is not node and _picked(source, one, hops - 1) for one in found)
    return False
