"""A layer made inside `forward` has new random weights at every call and is never trained.

`nn.Linear(...)(x)` in `forward` makes a fresh layer each time the model runs. The optimizer has never heard of it, no
checkpoint holds it, `.to(device)` does not move it, and the same input gives another output each time. The network around
it learns to live with the noise, so the loss still falls.

Make layers in `__init__`. Where a size is known only at run time, use the lazy form:

```python
self.fc = nn.LazyLinear(64)
```
"""

ROWS = ()
SOURCES = ("https://github.com/wangyida/softpool/issues/11", "https://github.com/graykode/nlp-tutorial/issues/29")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["difference"] > 0.01
    assert good["difference"] == 0
    assert bad["parameters"] < good["parameters"]
