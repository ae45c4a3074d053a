"""Alpha of the focal loss weighs positives, 1 - alpha negatives: on both it balances nothing.

Alpha is there to balance a rare class against a common one. Where both parts carry it, `alpha * t * ...` and
`alpha * (1 - t) * ...`, it is a constant in front of the whole loss: rare and common count as they would without it, and the only
thing that changes is the size of the gradients.

```python
positive = -alpha * t * (1 - p) ** gamma * torch.log(p)
negative = -(1 - alpha) * (1 - t) * p**gamma * torch.log(1 - p)
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/qubvel/segmentation_models/issues/187",
    "https://github.com/qubvel/segmentation_models/pull/259",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(bad["ratio"] - 1) < 1e-5
    assert good["ratio"] > 2.5
