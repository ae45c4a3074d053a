"""`frozen(x).detach()` records the whole forward pass and then throws the record away.

Cutting the output is right as far as gradients go: nothing flows back into the first model. But its forward pass was
recorded all the same, so every activation was kept until the result was cut, and at the peak the memory is that of
training. Its BatchNorm layers, if it is in train mode, also moved their statistics. And "never requires gradient" is
only the state at that moment: `x.detach().requires_grad_()` does.

If no gradient is wanted through the first model at all, do not record it:

```python
with torch.no_grad():
    features = teacher.eval()(images)
scores = student(features)
```

`detach()` is right where one branch of a recorded result must be cut and another must not, as in a GAN step that reuses
the fake images.
"""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree, values
from torchlore.check.source import Hit, Source

_OFF = {"torch.no_grad", "torch.inference_mode"}

ROWS = ("autograd-detach",)
SOURCES = ("000:12-20", "002:44-56")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    import torch

    assert bad["bytes_kept"] > 100_000
    assert good["bytes_kept"] == 0
    assert bad["teacher_gradients"] == good["teacher_gradients"] == 0
    assert torch.ones(2, requires_grad=True).detach().requires_grad_().requires_grad


WORDS = ("detach",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("detach") if "toggle_optimizer" not in source.text else ():  # which freezes the others
        around = (one.func if isinstance(one, ast.Call) else one for one in tree.contexts(source, call))
        if not _OFF.isdisjoint(source.name(one) for one in around):
            continue
        inner = follow.read_once(source, tree.receiver(call))
        if isinstance(inner, ast.Call) and _network(source, inner.func):
            model = source.code(inner.func)
            yield source.hit(call, f"`{model}` is recorded and the record thrown away: call it under `torch.no_grad()`")


def _network(source: Source, node: ast.expr) -> bool:
    """A module of several layers: what a single one keeps is not worth a word."""
    found = values.values(source, node)
    single = any(one.name.startswith("torch.nn.") and one.kind == "module" for one in found)
    return values.sure(source, node, "module") and not single
