"""`F.kl_div` takes log-probabilities as its input; given probabilities it can fall below zero.

The first argument is `log q`, the second `p`. It computes `p * (log p - input)`, so with probabilities in the place of their
logarithms the result is no divergence: it is often negative and is made smaller by sharpening the student, not by matching
the teacher. Distillation then runs, and teaches the wrong thing.

```python
loss = F.kl_div(F.log_softmax(student / T, dim=1), F.softmax(teacher / T, dim=1), reduction="batchmean")
```

If the target is in logarithms too, say so: `log_target=True`. And mind the order: `kl_div(input, target)` is the divergence
of the target from the input, KL(target || input).
"""

import ast
from collections.abc import Iterator
from typing import Annotated

from torchlore.check import losses, tree, values
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/microsoft/ProDA/issues/20",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch.nn import functional as F

    assert bad["loss"] < 0  # no divergence is
    assert good["loss"] >= 0
    assert good["distance"] < bad["distance"]
    p, q = torch.randn(4, 5).softmax(1), torch.randn(4, 5).softmax(1)
    by_hand = (p * (p.log() - q.log())).sum() / 4
    assert torch.allclose(F.kl_div(q.log(), p, reduction="batchmean"), by_hand, atol=1e-6)
    assert torch.allclose(F.kl_div(q.log(), p.log(), reduction="batchmean", log_target=True), by_hand, atol=1e-6)


WORDS = (losses.SAID,)


def find(source: Source) -> Iterator[Hit]:
    for loss in losses.loss_calls(source, "KLDivLoss", "kl_div"):
        given = values.state(source, loss.input) if loss.input is not None else None
        if given is not None and given.state in ("probs", "sigmoid", "logits"):
            what = {"probs": "the output of a softmax", "sigmoid": "the output of a sigmoid"}.get(
                given.state, "raw scores"
            )
            message = f"the input of kl_div must be log-probabilities and is {what}: use `log_softmax`"
            yield source.hit(loss.call, message, severity=_weighed(source, loss))
            continue
        if loss.input is not None and losses.called_logits(source, loss.input):
            told = (
                f"`{source.code(loss.input)}` goes into kl_div, which takes log-probabilities: use `log_softmax` first"
            )
            yield source.hit(loss.call, told, severity="warning")
            continue
        target = values.state(source, loss.target) if loss.target is not None else None
        logs = tree.literal(loss.option("log_target")) is True
        if loss.target is not None and _filled(source, loss.target):
            continue
        if target is not None and target.state == "logprobs" and loss.option("log_target") is None and not logs:
            yield source.hit(loss.call, "the target of kl_div is in logarithms here: add `log_target=True`")


def _weighed(source: Source, loss: losses.LossCall) -> str | None:
    """Left as elements and weighed, `p * (log p - q)` may be meant: its gradient is that of a dot product."""
    if tree.literal(loss.option("reduction")) != "none":
        return None
    up: ast.AST = source.parents[loss.call]
    while isinstance(up, ast.Attribute | ast.Call):
        up = source.parents[up]
    return "hint" if isinstance(up, ast.BinOp) and isinstance(up.op, ast.Mult) else "warning"


def _filled(source: Source, target: ast.expr) -> bool:
    """`wanted = scores.clone(); wanted.fill_(0.1)`: of the scores only the shape is left."""
    fills = source.methods("fill_", "zero_", "copy_")
    return any(source.code(tree.receiver(one)) == source.code(target) for one in fills)


def watch(call: Annotated[Call, "kl_div"]) -> Alarm | None:
    found = call.values(call.input)
    if found is None or found.low < 0 or found.high > 1 or not found.sums_to_one:
        return None
    return Alarm(
        "the input of kl_div must be log-probabilities and is a row of probabilities; use log_softmax",
        at=call.origin(call.input),
        evidence=f"its values lie in [{found.low:.3g}, {found.high:.3g}] and each row sums to one",
    )
