"""A method called `train` in a Module replaces the one that switches the mode.

`model.eval()` is `self.train(False)`. If the class has a training loop named `train`, `eval()` calls that, with `False` for
the data or the number of epochs. Where it does not crash, the mode never changes: dropout stays on and BatchNorm goes on
learning while the model is tested.

Call the loop `fit`, or keep it out of the module:

```python
def fit(self, loader, epochs): ...
```

An override that takes `mode=True`, calls `super().train(mode)` and returns `self` is fine: that is how a frozen part is
kept in eval mode.
"""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/Zhenye-Na/DA-RNN/issues/21",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["difference"] > 0
    assert good["difference"] == 0
    assert bad["dropout_on"] == 1
    assert good["dropout_on"] == 0


def watch(call: Annotated[Call, "Module.eval"]) -> Alarm | None:
    if not call.owner.training:
        return None
    name = type(call.owner).__name__
    return Alarm(
        f"{name} is in train mode after eval(); its own `train` replaces the one that switches the mode, rename it"
    )
