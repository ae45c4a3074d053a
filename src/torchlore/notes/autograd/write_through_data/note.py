"""A write through `.data` is hidden from autograd, which then computes a wrong gradient.

Autograd notes a version number with each tensor it saves for the backward pass, and refuses to go on if the tensor was
changed since. A write through `x.data` changes the values but not the version: no error, and a gradient of numbers that
were never there. `.data` is a leftover from the time of `Variable`.

Read with `x.detach()`: a write through it is seen, and backward raises instead of lying. Change values on purpose under
`no_grad`:

```python
with torch.no_grad():
    layer.weight.mul_(0.9)
value = loss.detach()  # not loss.data
```
"""

ROWS = ("autograd-data-attr",)
SOURCES = ("001:27", "002:34")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch

    assert bad["worst_gradient_error"] > 0.1
    assert good["worst_gradient_error"] < 1e-4

    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    y.data.zero_()
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 0, 0]  # e, e, e is right
    y = x.exp()
    y.detach().zero_()
    try:
        y.sum().backward()
    except RuntimeError:
        return
    raise AssertionError("the write through detach() was not seen")
