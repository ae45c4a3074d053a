"""A function cannot stand in `nn.Sequential`; a module can, and holds its own weights.

`nn.Sequential(nn.Linear(4, 4), F.relu)` raises a TypeError: only modules can be registered. The class is the usual
choice: `nn.Conv2d` makes, holds, moves and saves its weight, whereas `F.conv2d` must be handed one at every call. That
goes for functions with weights only; `F.relu(x)` needs nothing. Activations and pooling have no parameters in either
form.

```python
model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
```

Functions belong into a `forward` you write yourself. Prefer the module wherever hooks, printing, `model.apply` or
quantisation must see the layer, and for anything that behaves differently in training: `nn.Dropout` knows the mode,
`F.dropout` must be told.
"""

ROWS = ("module-nn-vs-functional", "module-functional-style")
SOURCES = ("001:18-20", "003:653-656")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, str], good: dict[str, str]) -> None:
    import torch
    from torch import nn
    from torch.nn import functional as F

    assert bad["error"] == "TypeError"
    assert good["error"] == ""

    x = torch.randn(2, 3, 8, 8)
    conv = nn.Conv2d(3, 4, 3)
    assert torch.equal(conv(x), F.conv2d(x, conv.weight, conv.bias))
    try:
        F.conv2d(x)  # type: ignore[call-overload]  # the missing weight is the point
    except TypeError:
        pass
    else:
        raise AssertionError("F.conv2d ran without a weight")
    assert torch.equal(F.relu(x), nn.ReLU()(x))
    assert list(nn.MaxPool2d(2).parameters()) == list(nn.ReLU().parameters()) == []
