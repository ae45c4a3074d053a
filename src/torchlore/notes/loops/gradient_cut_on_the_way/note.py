"""A part whose output is detached on its way to the loss never learns.

`detach()`, `.data`, `.numpy()`, `.item()` and `.tolist()` cut the graph. What lies before the cut gets no gradient, and the
optimizer skips parameters without one silently. The part behind the cut still learns, so the loss falls and nothing looks
wrong: an encoder stays random while its decoder copes.

Cut only what is logged or used as a target. To see it, ask once after `backward()` which parameters have none:

```python
print([name for name, p in model.named_parameters() if p.requires_grad and p.grad is None])
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/lucidrains/CoCa-pytorch/issues/6",
    "https://github.com/Tsinghua-MARS-Lab/DenseTNT/issues/11",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["encoder_moved"] == 0
    assert good["encoder_moved"] > 0
