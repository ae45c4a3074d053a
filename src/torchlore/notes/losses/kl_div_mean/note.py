"""`kl_div` with `reduction="mean"`, its default, divides by the classes as well: use "batchmean".

A divergence is a sum over the classes, averaged over the samples. The default mean divides by every element: with 1000
classes the distillation term is 1000 times smaller than the formula says, and its weight in the total loss with it. Torch
warns about it, at the default only.

```python
loss = F.kl_div(log_q, p, reduction="batchmean")
```

For inputs of more than two dimensions "batchmean" still divides by the first one only: for (batch, words, classes) flatten
to (batch * words, classes) first.
"""

import ast
import re
from collections.abc import Iterator
from typing import Annotated

from torchlore.check import edits, losses, tree
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/yuanli2333/Teacher-free-Knowledge-Distillation/issues/41",
           "https://github.com/pytorch/pytorch/pull/14457")  # fmt: skip
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(good["loss"] - good["by_formula"]) < 1e-5
    assert abs(100 * bad["loss"] - bad["by_formula"]) < 1e-3  # a hundredth: there are 100 classes


def _made_good(source: Source, call: ast.expr) -> bool:
    """`F.kl_div(a, b) * b.shape[1]`: the author knows, and multiplies by the number of classes."""
    up, factors = source.parents[call], []
    while isinstance(up, ast.BinOp) and isinstance(up.op, ast.Mult):
        factors += [up.left, up.right]
        up = source.parents[up]
    others = " ".join(source.code(one) for one in factors if not tree.inside(source, call, one) and one is not call)
    return any(word in others for word in ("shape", "size", "class", "len("))


def watch(call: Annotated[Call, "kl_div"]) -> Alarm | None:
    if call.argument(4, "reduction", "mean") != "mean" or call.input.dim() < 2 or call.input.shape[-1] < 2:
        return None
    message = 'kl_div divides by the number of classes as well as by the batch; use reduction="batchmean"'
    return Alarm(message, certain=False, evidence=f"its input is {tuple(call.input.shape)}")


WORDS = (losses.SAID,)


def find(source: Source) -> Iterator[Hit]:
    for loss in losses.loss_calls(source, "KLDivLoss", "kl_div"):
        made = loss.call if loss.made is None else loss.made.node
        if not isinstance(made, ast.Call) or (loss.made is not None and loss.made.source is not source):
            continue
        given = tree.argument(made, 4 if loss.made is None else 2, "reduction")
        absent = (
            given is None
            and not tree.spread(made)
            and not {kw.arg for kw in made.keywords} & {"size_average", "reduce"}
        )
        if (not absent and tree.literal(given) != "mean") or _made_good(source, loss.call):
            continue
        if loss.input is not None and re.search(r"action_?log|log_?probs?_?(of_)?act", source.code(loss.input)):
            continue  # of the actions that were taken: one number each, no classes
        edit = edits.set_keyword(source, made, "reduction", '"batchmean"')
        message = 'the mean divides by the number of classes as well: write `reduction="batchmean"`'
        yield source.hit(made, message, edit, severity="warning" if absent else "hint")
