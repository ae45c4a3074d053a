"""`loss += penalty` changes the tensor itself, and with it every other name it has.

A loss is a tensor, and `+=` on a tensor works in place. Whatever else refers to it (`data_loss = loss`, an entry in a list
or a dict of terms) now holds the sum: the curve of the data loss shows the penalty too. Plain addition makes a new tensor
and leaves the old one alone.

```python
loss = data_loss + 1e-4 * l1_penalty(model.parameters())
```

About that penalty: summed over all parameters it also shrinks biases and the scales of norms, which the recipe leaves out.
And its plain gradient step never reaches exact zeros; for a sparse model shrink after the step
(`torchlore.recipes.losses.shrink_`).
"""

ROWS = ("loss-l1",)
SOURCES = ("003:464-471",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch import nn

    from torchlore.recipes.losses import l1_penalty, shrink_

    assert bad["penalty"] == 0  # it looks as if there were none
    assert good["penalty"] > 1

    model = nn.Sequential(nn.Linear(50, 20), nn.BatchNorm1d(20))
    by_hand = torch.as_tensor(sum(p.abs().sum() for p in model.parameters()))
    assert l1_penalty(model.parameters()) < by_hand  # biases and the norm are left out
    assert torch.allclose(l1_penalty(model.parameters()), model[0].get_parameter("weight").abs().sum())

    weight = nn.Parameter(torch.randn(20, 50))
    for _ in range(50):
        weight.grad = None
        (0.01 * weight.abs().sum()).backward()
        torch.optim.SGD([weight], lr=1.0).step()
    assert (weight == 0).sum() == 0
    shrink_([weight], 0.01)
    assert (weight == 0).sum() > 0
