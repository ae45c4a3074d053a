"""A penalty computed from `p.data`, `p.detach()` or under `no_grad` has a value and no gradient.

`.data` is the tensor without its history. A sum of squares of it is a number like any other: it is added to the loss, shows in
the log, and sends nothing back to the weights. The network is trained without the penalty; its strength has no effect at all.

```python
penalty = sum(p.abs().sum() for p in model.parameters())
loss = criterion(model(x), y) + strength * penalty
```

A sum of the weights themselves is no penalty either: `p.sum()` has the gradient 1 everywhere, so it pushes every weight towards
minus infinity. It needs `abs()` or `pow(2)`. For squares the optimizer's own `weight_decay` is cheaper.
"""

ROWS = ()
SOURCES = ("https://discuss.pytorch.org/t/simple-l2-regularization/139",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["size"] > 3 * good["size"]
