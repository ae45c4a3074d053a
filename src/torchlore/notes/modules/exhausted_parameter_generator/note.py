"""`model.parameters()` is a generator: what reads it a second time gets nothing.

`params = model.parameters()` handed to an optimizer is used up. A second optimizer then complains of an empty list, but
`clip_grad_norm_(params, 1.0)` clips nothing and only warns, and a loop over it runs zero times in silence. The same is
true of `named_parameters()`, `filter(...)`, `map(...)` and generator expressions over them.

Make a list once, or ask the model again each time:

```python
params = list(model.parameters())
optimizer = torch.optim.SGD(params, lr=0.1)
torch.nn.utils.clip_grad_norm_(params, 1.0)
```
"""

ROWS = ("module-parameters",)
SOURCES = ("004:63",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch import nn

    from torchlore.notes.proof import error_of

    assert bad["largest_step"] > 1
    assert good["largest_step"] <= 0.11  # lr 0.1 times a clipped norm of 1

    params = nn.Linear(2, 2).parameters()
    torch.optim.SGD(params, lr=0.1)
    assert error_of(lambda: torch.optim.SGD(params, lr=0.1)) == "ValueError"
    assert sum(p.numel() for p in params) == 0
