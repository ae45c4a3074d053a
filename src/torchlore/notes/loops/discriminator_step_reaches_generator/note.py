"""A discriminator's loss on an attached fake leaves gradients in the generator: detach the fake.

`d_loss.backward()` goes through `D(fake)` into the generator that made the fake. If the generator's gradients are not cleared before
its own backward pass, the two add up: the generator also learns to be recognised. Where they are cleared, only time and memory
are lost.

```python
fake = G(noise)
d_loss = bce(D(real), ones) + bce(D(fake.detach()), zeros)
g_loss = bce(D(fake), ones)
```
"""

ROWS = ()
SOURCES = ("https://github.com/yunjey/pytorch-tutorial/issues/56",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["alike"] > 0.999  # the gradient that g_loss alone gives
    assert bad["alike"] < 0.6
