"""A softmax over one output is 1 for every input: nothing can be learned from it.

Softmax divides by the sum over the dimension. With a single output there is nothing to divide by but itself, so the
probability is 1 whatever the network computes, and the gradient is exactly zero. Cross-entropy on one logit is the same
mistake: its loss is always 0.

For a yes-or-no answer use one output with a sigmoid, inside the loss:

```python
self.head = nn.Linear(64, 1)
loss = F.binary_cross_entropy_with_logits(self.head(x).squeeze(1), labels.float())
```

or two outputs with cross-entropy.
"""

import ast
import re
from collections.abc import Iterator
from typing import Annotated

from torchlore.check import losses, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/keras-team/keras/issues/18909", "https://github.com/ultralytics/yolov3/issues/191")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_FUNCTIONS = tuple(
    f"torch.{name}" for name in ("softmax", "log_softmax", "nn.functional.softmax", "nn.functional.log_softmax")
)
_LAST = (-1, 1)
_POOLS = regex(r"att|pool|gate|weight|alpha|scor|energ", re.IGNORECASE)
_THREE = regex(r"bmm|matmul|permute|einsum|unsqueeze|transpose| @ |att[ei]?n|alpha|energ|\bseq|sum\([^()]*\b1\b")


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch.nn import functional as F

    assert bad["moved"] == 0
    assert good["moved"] > 0
    assert good["accuracy"] > 0.9
    one = torch.randn(5, 1)
    assert torch.equal(one.softmax(1), torch.ones(5, 1))
    assert F.cross_entropy(one, torch.zeros(5, dtype=torch.long)) == 0


def find(source: Source) -> Iterator[Hit]:
    for call in (*source.calls(*_FUNCTIONS), *source.methods("softmax", "log_softmax")):
        method = not source.name(call.func)
        scores = tree.receiver(call) if method else tree.argument(call, 0, "input")
        where = tree.literal(tree.argument(call, 0 if method else 1, "dim"))
        if scores is not None and where in _LAST and _single(source, scores) and not _attends(source, call, where):
            yield source.hit(call, f"`{source.code(scores)}` has one output and its softmax is always 1: use a sigmoid")
    for layer in source.calls("torch.nn.Softmax", "torch.nn.LogSoftmax"):
        box = source.parents[layer]
        where = tree.literal(tree.argument(layer, 0, "dim"))
        named = source.parents[box] if where == 1 else None
        if isinstance(named, ast.Assign) and _POOLS.search(source.code(named.targets[0])):
            continue  # a weight for each step of a sequence
        if isinstance(box, ast.Call) and layer in box.args and where in _LAST and _after_single(source, box, layer):
            yield source.hit(layer, "this softmax follows a layer with one output and is always 1: use `nn.Sigmoid()`")
    for loss in losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy"):
        if loss.input is not None and _single(source, loss.input):
            yield source.hit(
                loss.call, "cross-entropy of a single output is always 0: use binary_cross_entropy_with_logits"
            )


def _single(source: Source, scores: ast.expr) -> bool:
    shape = values.shape(source, scores)
    return shape is not None and len(shape) == 2 and shape[1] == 1


def _attends(source: Source, call: ast.Call, where: int) -> bool:
    """Over dimension 1 one score a step is an attention, where the code around it handles three dimensions."""
    home = tree.function(source, call)
    return where == 1 and home is not None and bool(_THREE.search(source.code(home)))


def _after_single(source: Source, box: ast.Call, layer: ast.Call) -> bool:
    before = box.args[box.args.index(layer) - 1] if box.args.index(layer) else None
    linear = isinstance(before, ast.Call) and source.name(before.func) == "torch.nn.Linear"
    return linear and isinstance(before, ast.Call) and tree.literal(tree.argument(before, 1, "out_features")) == 1


def watch(call: Annotated[Call, "softmax", "log_softmax"]) -> Alarm | None:
    scores, where = call.args[0], call.argument(1, "dim")
    if where is None or scores.dim() != 2 or scores.shape[where] != 1 or not scores.requires_grad:
        return None
    return Alarm(
        "a softmax over a single output is always 1; use a sigmoid", evidence=f"its input is {tuple(scores.shape)}"
    )
