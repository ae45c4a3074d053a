"""A Module whose `__init__` does not call `super().__init__()` first cannot hold layers.

`nn.Module.__init__` makes the tables in which parameters, buffers and hooks are kept. Assigning a layer before it ran
raises "cannot assign module before Module.__init__() call"; a module without layers fails later and more obscurely, at
the first call. The call must come before the first assignment of a layer or a parameter.

```python
class Net(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(3, channels, 3)
```

The older `super(Net, self).__init__()` means the same and is still legal; it breaks when the class is renamed or copied
and the name inside is not.
"""

ROWS = ("module-super",)
SOURCES = ("001:36-41",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, str], good: dict[str, str]) -> None:
    import torch
    from torch import nn

    assert bad["error"] == "AttributeError"
    assert good["error"] == ""

    class Old(nn.Module):
        def __init__(self) -> None:
            super(Old, self).__init__()  # noqa: UP008 - the old spelling is the point
            self.fc = nn.Linear(2, 1)

    assert len(list(Old().parameters())) == 2

    class NoLayers(nn.Module):
        def __init__(self) -> None:
            self.scale = 2

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.scale

    try:
        NoLayers()(torch.ones(1))
    except AttributeError:
        return
    raise AssertionError("a module ran without Module.__init__")
