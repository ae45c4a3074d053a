"""`self.w = nn.Parameter(...).cuda()` is a plain tensor: not registered, never trained.

Any operation on a parameter gives an ordinary tensor: `.to(device)`, `.cuda()`, `.half()`, `* 0.1`, `.t()`. Assigned to
`self` it is not registered: `parameters()` does not list it, the optimizer never sees it, `state_dict()` does not hold
it. On the CPU, `.to("cpu")` changes nothing and returns the parameter itself, so the fault only shows on the GPU.

Finish the values first, wrap them last:

```python
self.w = nn.Parameter(torch.randn(n, device=device) * 0.1)
```

Better still leave the device to `model.to(device)`, which moves every parameter in place.
"""

ROWS = ()
SOURCES = "004:100-102"
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    import torch
    from torch import nn

    assert bad["names"] == ["fc.weight", "fc.bias"]
    assert good["names"] == ["scale", "fc.weight", "fc.bias"]
    assert bad["scale_moved"] == 0
    assert good["scale_moved"] != 0
    weight = nn.Parameter(torch.ones(2))
    assert isinstance(weight.to("cpu"), nn.Parameter)
    for made in (weight.double(), weight * 0.1, weight.t(), weight.to("meta")):
        assert not isinstance(made, nn.Parameter)
