"""In a contrastive loss each sample is most similar to itself: take the diagonal out.

`z @ z.T` holds the similarity of every sample with every other, and on the diagonal that with itself: 1, the largest there can be.
Left in, it stands in the denominator of every row as a negative that no training can push away. The loss cannot fall below a floor,
its gradient is small, and the smaller the temperature the more the diagonal drowns the rest. The numbers look like a loss that
converges.

```python
similarity = z @ z.T / temperature
similarity = similarity.masked_fill(torch.eye(len(z), dtype=torch.bool, device=z.device), float("-inf"))
```

Between two different sets of vectors (images and texts) there is nothing to take out: there the diagonal is the positives.
"""

from __future__ import annotations

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/Lightning-Universe/lightning-bolts/issues/695",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["loss"] > 2 * good["loss"]


def watch(call: Annotated[Call, "cross_entropy"]) -> Alarm | None:
    scores, target = call.input, call.target
    if getattr(scores, "ndim", 0) != 2 or not scores.is_cpu or not 4 <= len(scores) == scores.shape[1] <= 2048:
        return None
    if target is None or target.shape != scores.shape[:1] or not bool(scores.isfinite().all()):
        return None
    own, places = scores.diagonal(), target.new_tensor(range(len(scores)))
    itself = bool((own >= scores.amax(1)).all()) and bool((scores - scores.T).abs().max() <= 1e-4 * own.abs().max())
    if (
        not itself
        or bool((target == places).any())
        or not bool((own == own[0]).logical_or((own - own[0]).abs() < 1e-3).all())
    ):
        return None
    return Alarm(
        "each row of these similarities holds that of a sample with itself, its largest, as a negative; set the diagonal to -inf"
    )
