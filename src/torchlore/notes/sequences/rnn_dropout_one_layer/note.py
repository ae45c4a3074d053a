"""`nn.LSTM(..., dropout=0.5)` with one layer drops nothing: dropout stands between layers.

The `dropout` of `nn.LSTM`, `nn.GRU` and `nn.RNN` is applied to the output of each layer but the last. With `num_layers=1`, the
default, there is no such place. Torch warns once when the layer is made; the run then goes on without the regularisation
that its configuration names.

```python
self.rnn = nn.LSTM(64, 128, num_layers=2, dropout=0.5)
self.drop = nn.Dropout(0.5)      # or drop the output of a single layer yourself
```
"""

import ast
from collections.abc import Iterator
from typing import Annotated

from torchlore.check import stated, tree
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/pyro-ppl/pyro/issues/1415", "https://github.com/pytorch/pytorch/issues/5985")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["difference"] == 0
    assert good["difference"] > 0


def watch(call: Annotated[Call, "forward"]) -> Alarm | None:
    if call.memory.setdefault("looked", 0):
        return None
    call.memory["looked"] = 1
    for name, layer in call.owner.named_modules():
        if (
            getattr(layer, "num_layers", 0) == 1
            and type(layer).__name__ in ("LSTM", "GRU", "RNN")
            and type(layer).__module__.startswith("torch.nn.")
            and layer.dropout > 0
        ):
            what = f"`{name}`" if name else type(layer).__name__
            return Alarm(f"the dropout of {what} has no place to act with one layer; drop its output with nn.Dropout")
    return None


WORDS = ("LSTM|GRU|RNN",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"):
        rates = _may_be(source, tree.argument(call, 5, "dropout"))
        layers = [1] if tree.lacks(call, 2, "num_layers") else _may_be(source, tree.argument(call, 2, "num_layers"))
        if all(isinstance(rate, float) and rate > 0 for rate in rates) and set(layers) == {1}:
            message = f"dropout {rates[0]} of a single layer has no place to act: drop its output with `nn.Dropout({rates[0]})`"
            yield source.hit(call, message)


def _may_be(source: Source, node: ast.expr | None) -> list[object]:
    """The constants that callers, or the default, give for it."""
    return stated.constants(source, node) if isinstance(node, ast.Name) else [tree.literal(node)]
