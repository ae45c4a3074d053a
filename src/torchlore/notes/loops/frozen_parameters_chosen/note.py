"""An optimizer wants the parameters that learn: `not p.requires_grad` hands it the frozen ones.

After freezing the body, `filter(lambda p: p.requires_grad, model.parameters())` leaves the head. With a `not` before it the optimizer
gets just those that have no gradient; `step()` skips them all without a word, and nothing in the net moves.

```python
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
```

Handing over all parameters does no harm either: those without a gradient are skipped.
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/tutorials/beginner/transfer_learning_tutorial.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0
