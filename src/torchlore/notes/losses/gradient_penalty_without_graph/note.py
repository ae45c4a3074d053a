"""A penalty on gradients needs `create_graph=True`, or it is a constant in the loss.

`torch.autograd.grad(score.sum(), x)` returns numbers without a history. A penalty made of them has the right value, is added
to the loss, shows in the log, and sends no gradient to any weight: the critic of a WGAN-GP is trained without its penalty.

```python
grads = torch.autograd.grad(score.sum(), x, create_graph=True)[0]
penalty = ((grads.norm(2, dim=1) - 1) ** 2).mean()
```
"""

ROWS = ()
SOURCES = ("https://github.com/facebookresearch/DomainBed/issues/50",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["gradient"] == 0
    assert good["gradient"] > 0
