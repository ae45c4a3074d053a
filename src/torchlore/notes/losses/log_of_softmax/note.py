"""`log(softmax(x))` is minus infinity for an unlikely class; `log_softmax(x)` is right.

Softmax of a score 200 below the best is 0 in float32, and its logarithm is `-inf`: the loss is infinite, the gradient NaN.
`log_softmax` never forms the tiny number and gives -200. The same goes for `log(sigmoid(x))` and for `log(1 - sigmoid(x))`.
Adding an eps inside the logarithm hides the infinity and makes the gradient vanish instead.

```python
log_p = F.log_softmax(x, dim=1)
log_p = F.logsigmoid(x)       # log(sigmoid(x))
log_q = F.logsigmoid(-x)      # log(1 - sigmoid(x))
```

`nn.CrossEntropyLoss` is `log_softmax` followed by `nn.NLLLoss`: it wants the scores themselves.
"""

ROWS = ("loss-ce-decomp",)
SOURCES = ("001:68", "003:665")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch.nn import functional as F

    assert bad["loss"] == float("inf")
    assert abs(good["loss"] - 200) < 1e-3
    assert bad["gradient_is_finite"] == 0
    assert good["gradient_is_finite"] == 1

    x, y = torch.randn(8, 5), torch.randint(0, 5, (8,))
    assert torch.allclose(F.nll_loss(F.log_softmax(x, 1), y), F.cross_entropy(x, y))
    far = torch.tensor([-200.0], requires_grad=True)
    assert torch.isinf(far.sigmoid().log())
    assert F.logsigmoid(far) == -200
    (far.sigmoid() + 1e-8).log().backward()
    assert far.grad is not None
    assert far.grad == 0  # eps: no infinity, and no gradient
