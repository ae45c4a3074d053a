"""After `scaler.scale(loss).backward()` the step belongs to the scaler: `scaler.step(optimizer)`.

The scaler multiplies the loss, and with it every gradient, by 65,536 or so. Only `scaler.step` divides them again; it also
leaves a step out whose gradients overflowed. A plain `optimizer.step()` takes the scaled gradients as they are: SGD jumps out
of the valley at once, Adam hides the factor and only loses its `eps`, its clipping and its protection against `inf`.

```python
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
```

After `scaler.unscale_(optimizer)` the gradients are the true ones, and `scaler.step` still skips what is not finite. With
bfloat16 no scaler is needed at all.
"""

ROWS = ()
SOURCES = ("https://github.com/IAHispano/Applio/pull/860",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] / good["moved"] > 1000
    assert good["moved"] < 1
