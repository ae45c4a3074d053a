"""A layer whose gradient is exactly zero at every step never learns, and nothing says so.

`.grad` is there, so no check for None finds it. The factor behind the layer is zero: both matrices of a low-rank pair start at
zero, a `torch.autograd.Function` gives zeros back, an attention over one token weighs it with 1 whatever the scores are, a
`round`, `sign` or comparison lies on the way, a saturated sigmoid or a dead ReLU passes nothing, or the term has the weight 0.

Look once, after some steps:

```python
print([name for name, p in model.named_parameters() if p.grad is not None and not p.grad.any()])
```

Start one of two factors at random, give the incoming gradient back for a function that is no smooth one (straight through),
or leave the layer out of the optimizer if it is meant to rest.
"""

ROWS = ()
SOURCES = ("https://github.com/Guitaricet/relora/issues/18",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0
