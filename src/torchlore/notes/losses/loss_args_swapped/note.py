"""Torch's losses take the prediction first: `criterion(target, output)` is another function.

Some losses do not care: MSE and L1 are symmetric. The others do. Cross-entropy on swapped arguments raises, or, with float
targets, takes the targets for logits; `binary_cross_entropy(labels, p)` clamps the logarithm of hard 0 and 1 at -100 and gives
a loss of the wrong size; `kl_div` computes the reverse divergence; NLL and Gaussian likelihoods become nonsense. Keras and
scikit-learn have the target first, which is where the slip comes from.

```python
loss = criterion(output, target)
```
"""

import ast
import re
from collections.abc import Iterator
from typing import Annotated

from torchlore.check import edits, losses, values
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/lucidrains/DALLE2-pytorch/issues/30",
           "https://github.com/philtabor/Deep-Q-Learning-Paper-To-Code/issues/19")  # fmt: skip
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_SYMMETRIC = {"MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"}
_TRIPLETS = {"n", "neg", "negative", "negatives", "p", "pos", "positive", "positives"}
_TARGET = re.compile(r"^(?:\w+_)?(?:target|targets|label|labels|y_true|gt|ground_truth|truth|y)(?:_\w+)?$")


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch.nn import functional as F

    assert good["accuracy"] > 0.9
    assert bad["accuracy"] < 0.8
    a, b = torch.rand(5), torch.rand(5)
    assert F.mse_loss(a, b) == F.mse_loss(b, a)
    assert F.binary_cross_entropy(a, b) != F.binary_cross_entropy(b, a)


def watch(
    call: Annotated[Call, "cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits", "nll_loss"],
) -> Alarm | None:
    prediction, target = call.input, call.target
    if prediction is None or target is None or prediction.requires_grad or not target.requires_grad:
        return None
    return Alarm(f"{call.name} takes the prediction first; here the second argument is the one with a graph, swap them")


def _word(source: Source, node: ast.expr) -> str:
    """`neg` of `neg_emb`, `self.neg` and `emb_neg`; "" where no part of the name is such a word."""
    parts = (
        source.code(node).rpartition(".")[2].lower().split("_") if isinstance(node, ast.Name | ast.Attribute) else []
    )
    return next((one for one in parts if one in _TRIPLETS or one.rstrip("0123456789") in _TRIPLETS), "")


def find(source: Source) -> Iterator[Hit]:
    for call in losses.loss_calls(source, "TripletMarginLoss", "triplet_margin_loss", "TripletMarginWithDistanceLoss"):
        words = [_word(source, one) for one in call.call.args[:3]]
        if len(words) == 3 and words[1].startswith("n") and words[2].startswith("p") and set(words) & _TRIPLETS:
            yield source.hit(
                call.call, "the positive comes second and the negative third: here the negative is pulled closer"
            )
    for loss in losses.loss_calls(source):
        first, second = loss.input, loss.target
        if first is None or second is None or loss.name.rpartition(".")[2] in _SYMMETRIC or loss.call.keywords:
            continue
        named = isinstance(first, ast.Name | ast.Attribute) and bool(
            _TARGET.match(source.code(first).rpartition(".")[2])
        )
        given = values.state(source, second)
        if named and values.attached(source, first) is not True and given is not None and given.state != "loss":
            one, two = source.code(first), source.code(second)
            fix = edits.replace(source, first, two), edits.replace(source, second, one)
            yield source.hit(loss.call, f"the prediction comes first: write `({two}, {one})`", *fix, safe=False)
