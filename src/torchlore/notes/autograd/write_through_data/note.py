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

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree, uses, values
from torchlore.check.source import Hit, Source

_KEEP_THEIR_RESULT = {"probs", "logprobs", "sigmoid", "tanh", "relu", "elu"}  # backward reads what they returned

_VIEWS = {"squeeze", "unsqueeze", "view", "transpose", "permute", "t", "flatten"}
_COPIES = {"gather", "index_select", "masked_select", "take", "take_along_dim", "clone", "repeat"}

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


WORDS = ("data",)


def find(source: Source) -> Iterator[Hit]:
    for data in uses.attributes(source, "data"):
        if not _writes(source, data):
            continue
        given = values.state(source, data.value)
        kept = given is not None and given.state in _KEEP_THEIR_RESULT and values.attached(source, data.value)
        if kept and not _is_copy(source, data.value):
            name = source.code(data.value)
            message = f"autograd does not see this write and computes a wrong gradient: write a new `{name}` instead"
            yield source.hit(tree.statement(source, data), message)


def _is_copy(source: Source, node: ast.expr) -> bool:
    """`probs.gather(1, chosen).squeeze(1)`: what is written into is not what the activation kept."""
    node = follow.followed(source, node)
    while isinstance(node, ast.Call) and follow.method(node) in _VIEWS:
        node = follow.followed(source, tree.receiver(node))
    return follow.method(node) in _COPIES


def _writes(source: Source, data: ast.Attribute) -> bool:
    """`x.data = ...`, `x.data[i] = ...`, `x.data += ...` or `x.data.clamp_()`."""
    node: ast.AST = data
    up = source.parents[node]
    while isinstance(up, ast.Subscript) and up.value is node:
        node, up = up, source.parents[up]
    if isinstance(getattr(node, "ctx", None), ast.Store):
        return True
    called = isinstance(up, ast.Attribute) and isinstance(source.parents[up], ast.Call)
    return called and isinstance(up, ast.Attribute) and up.attr.endswith("_") and not up.attr.endswith("__")
