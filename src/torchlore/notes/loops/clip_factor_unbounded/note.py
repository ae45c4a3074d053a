"""A clip factor written by hand must never be above one, and must not stand on its head.

`factor = max_norm / norm` is right for a gradient that is too long. For one that is short it is above one: a gradient of norm 0.01
is blown up to `max_norm`, so every step has the same length and the training never settles. Turned round, `norm / max_norm`, it
makes long gradients longer.

Take the smaller of it and one, or ask first; or leave it to torch:

```python
factor = min(1.0, max_norm / (norm + 1e-6))
nn.utils.clip_grad_norm_(model.parameters(), max_norm)
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/pytorch/pytorch/issues/309",
    "https://github.com/huggingface/transformers/pull/614",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["norm"] > 0.9
    assert good["norm"] < 0.1
