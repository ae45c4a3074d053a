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

import ast
from collections.abc import Iterator

from torchlore.check import edits
from torchlore.check.source import Hit, Source

_MODULE = {"relu": "ReLU", "sigmoid": "Sigmoid", "tanh": "Tanh", "gelu": "GELU", "silu": "SiLU", "elu": "ELU",
           "selu": "SELU", "leaky_relu": "LeakyReLU", "relu6": "ReLU6", "softplus": "Softplus", "mish": "Mish",
           "hardswish": "Hardswish", "logsigmoid": "LogSigmoid"}  # fmt: skip
_BARE = {*_MODULE.values(), "Flatten", "Identity", "Dropout", "Dropout2d", "PReLU"}  # they need no argument

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


WORDS = ("Sequential|ModuleList",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.nn.Sequential", "torch.nn.ModuleList"):
        given = call.args
        if len(given) == 1 and isinstance(given[0], ast.List):
            given = given[0].elts
        for one in given:
            name = source.name(one)
            if not name.startswith("torch."):
                continue
            code, box, last = source.code(one), source.code(call.func), name.rpartition(".")[2]
            if last[:1].islower():
                nn = box.rpartition(".")[0]
                better = f"{nn}.{_MODULE[last]}()" if nn and last in _MODULE else ""
                fix = [edits.replace(source, one, better)] if better else []
                yield source.hit(
                    one, f"{box} holds modules and `{code}` is a function: write `{better or 'a module'}`", *fix
                )
            elif name.startswith("torch.nn.") and last[:1].isupper():
                fix = [edits.append(source, one, "()")] if last in _BARE else []
                yield source.hit(one, f"{box} holds modules and `{code}` is a class: write `{code}()`", *fix)
