"""ReduceLROnPlateau waits for a smaller number unless told otherwise; accuracy grows.

The default is `mode="min"`. Stepped with an accuracy that rises, every epoch counts as bad, and the rate falls and falls
while the model improves. `step()` without the number is a TypeError, and a NaN counts as bad. With `patience=5` the
rate falls after the sixth epoch in a row without a new best.

```python
scheduler = ReduceLROnPlateau(optimizer, mode="max", patience=5)
...
scheduler.step(val_acc)
```

`torchlore.recipes.schedules.Plateau` does the same, has no default for its mode, and takes a NaN for an error.
"""

ROWS = ("schedule-plateau",)
SOURCES = ("003:530-537",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch

    from torchlore.recipes.schedules import Plateau

    assert bad["lr"] < 0.01  # it fell while accuracy rose
    assert good["lr"] == 1.0

    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", patience=5)
    rates = []
    for _ in range(8):
        scheduler.step(0.5)
        rates.append(optimizer.param_groups[0]["lr"])
    assert rates == [1.0] * 6 + [0.1] * 2
    plateau = Plateau("max", patience=5)
    assert [plateau.update(0.5) for _ in range(8)] == rates
    try:
        scheduler.step()  # type: ignore[call-arg]  # the mistake
    except TypeError:
        pass
    else:
        raise AssertionError("a plateau was found without a number")
