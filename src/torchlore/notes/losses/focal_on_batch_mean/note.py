"""A focal weight computed from the batch's mean loss weighs all samples alike.

`p = exp(-ce)` is the probability of the true class only if `ce` is the loss of one sample. With the default
`reduction="mean"` it is one number for the batch, and `(1 - p) ** gamma` one weight for all: easy and hard samples are
weighted the same, which is what focal loss was meant to change. The loss still falls.

Keep the losses apart until they are weighted:

```python
ce = F.cross_entropy(logits, labels, reduction="none")
loss = ((1 - torch.exp(-ce)) ** gamma * ce).mean()
```

or take `torchlore.recipes.losses.focal_loss`, which is exact near p = 1 and knows weights and ignored labels. With class
weights, `exp(-ce)` is no probability any more: compute p without them.
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, losses, scopes, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/kaidic/LDAM-DRW/issues/6",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_NAMES = ("CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss", "BCEWithLogitsLoss", "BCELoss",
          "binary_cross_entropy", "binary_cross_entropy_with_logits")  # fmt: skip


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch.nn import functional as F

    from torchlore.recipes.losses import focal_loss

    assert bad["spread"] == 0
    assert good["spread"] > 0.1
    logits, labels = torch.randn(8, 3), torch.randint(0, 3, (8,))
    each = F.cross_entropy(logits, labels, reduction="none")
    by_hand = ((1 - torch.exp(-each)) ** 2 * each).mean()
    assert torch.allclose(focal_loss(logits, labels, 2.0), by_hand, atol=1e-6)


def find(source: Source) -> Iterator[Hit]:
    calls = {id(one.call): one for one in losses.loss_calls(source, *_NAMES)}
    for exp in (*source.calls("torch.exp"), *source.methods("exp")) if calls else ():
        power = exp.args[0] if source.name(exp.func) and exp.args else tree.receiver(exp)
        loss = calls.get(id(_negated(source, power)))
        if loss is None or not _reduced(loss) or not _weighs(source, exp):
            continue
        holder = loss.call if loss.made is None else loss.made.node
        fix = []
        if isinstance(holder, ast.Call) and (loss.made is None or loss.made.source is source):
            fix = [edits.set_keyword(source, holder, "reduction", '"none"')]
        yield source.hit(loss.call, 'one focal weight for the whole batch: give this loss `reduction="none"`', *fix)


def _negated(source: Source, node: ast.expr) -> ast.expr | None:
    """What stands behind one minus sign, through names: `ce` of `-ce`, or of `logpt = -ce`."""
    minus = False
    for _ in range(4):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            node, minus = node.operand, not minus
        elif isinstance(node, ast.Name):
            bindings = scopes.reaching(source, node)
            if len(bindings) != 1 or bindings[0].how != "assign" or bindings[0].value is None:
                return None
            node = bindings[0].value
    return node if minus else None


def _reduced(loss: losses.LossCall) -> bool:
    """Whether the loss is one number for the batch, for sure."""
    holder = loss.call if loss.made is None else loss.made.node
    if not isinstance(holder, ast.Call) or tree.spread(holder) or tree.keyword(holder, "reduce"):
        return False
    given = loss.option("reduction")
    return given is None or tree.literal(given) in ("mean", "sum")


def _weighs(source: Source, exp: ast.Call) -> bool:
    """Whether `1 - exp(-ce)` is raised to a power somewhere in the same function."""
    home = tree.function(source, exp)
    powers = [
        one for one in source.all(ast.BinOp) if isinstance(one.op, ast.Pow) and tree.function(source, one) is home
    ]
    rest = [one.left for one in powers if isinstance(one.left, ast.BinOp) and isinstance(one.left.op, ast.Sub)]
    return any(tree.literal(one.left) == 1 for one in rest)
