"""`x - x.mean()` in `forward` takes the mean over all samples of the batch: give the dimension.

A reduction without a dimension goes over everything, the batch too. In a network it makes each sample's output depend on
the others that happen to stand beside it: a dueling head subtracts the advantages of other states, an embedding is divided
by the norm of the whole batch. Training still works, the numbers are those of no formula, and a single sample at inference
gives another answer than the same sample in a batch.

```python
q = value + advantage - advantage.mean(dim=1, keepdim=True)
embedding = features / features.norm(dim=-1, keepdim=True)  # or F.normalize(features, dim=-1)
```

Batch norm mixes samples on purpose, and keeps statistics of its own for evaluation. Losses average over the batch at the end.
"""

from typing import Any

ROWS = ()
SOURCES = ("https://github.com/datawhalechina/easy-rl/issues/140",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["apart"] > 0.01
    assert good["apart"] < 1e-6
