"""A misspelt `__init__` or `forward` is just another method: the one of the base class runs instead.

`def _init_`, `__int__`, `__init` are never called when the module is made, so that no layer exists; `foward` leaves the
module without a `forward`, which is told only at the first call. Worse are `training_setp` or `__getitem`, where the base
class has something that runs. Python cannot know what was meant.

```python
class Net(nn.Module):
    def __init__(self): ...
    def forward(self, x): ...
```

In a data set the names are `__len__` and `__getitem__`, with two underscores on both sides. Lightning calls its hooks by name:
`on_val_epoch_end` and `on_training_end` run never, `on_validation_epoch_end` and `on_train_end` do.
"""

ROWS = ()
SOURCES = ("https://github.com/vsitzmann/siren/issues/61",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["error"] == "AttributeError"
    assert good["error"] == ""
    assert good["parameters"] == 2
