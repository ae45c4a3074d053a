"""`modules()` walks the whole tree, itself included; `children()` stops after one level.

Real networks nest: a ResNet's convolutions are grandchildren. A loop over `children()` that looks for `nn.Conv2d` finds
the few at the top and misses the rest. `named_modules()` gives each one's dotted name as well.

```python
for name, module in model.named_modules():
    if isinstance(module, nn.Conv2d): ...
```

A module that is used twice is listed once, by `modules()`, `children()` and `parameters()` alike. `state_dict()` lists
it under each of its names. To see all the names, use `named_modules(remove_duplicate=False)`.
"""

ROWS = ("module-modules-children", "module-modules-dedup")
SOURCES = ("003:239", "004:31-33", "004:34-61")
TORCH = "2.11, 2.15"
NEEDS = ()


def claim() -> None:
    from torch import nn

    nested = nn.Sequential(nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()), nn.Conv2d(4, 4, 3))
    assert len(list(nested.modules())) == 5
    assert next(nested.modules()) is nested
    assert len(list(nested.children())) == 2
    assert sum(isinstance(m, nn.Conv2d) for m in nested.children()) == 1
    assert sum(isinstance(m, nn.Conv2d) for m in nested.modules()) == 2

    linear = nn.Linear(2, 2)
    twice = nn.Sequential(linear, linear)
    assert list(twice.modules()) == [twice, linear]
    assert list(twice.children()) == [linear]
    assert len(list(twice.parameters())) == 2
    assert len(twice.state_dict()) == 4
    assert len(list(twice.named_modules(remove_duplicate=False))) == 3
    assert str(linear) == "Linear(in_features=2, out_features=2, bias=True)"
