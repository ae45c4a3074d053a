"""Raw outputs are compared with 0, not with 0.5: a logit of 0.5 is a probability of 0.62.

With `BCEWithLogitsLoss` the model gives logits. `sigmoid(0) = 0.5`, so "more likely than not" is `logit > 0`. `logit > 0.5` and
`torch.round(logit)` ask for a probability of at least 0.62: positives are missed, recall is too low, and nothing shows it.

```python
predicted = logits > 0
predicted = torch.sigmoid(logits) > 0.5   # the same
```
"""

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
