"""Without `batch_first=True` an RNN or Transformer layer takes the first dimension for time.

The default layout is (time, batch, features). Batches of shape (batch, time, features) go through without an error: the layer
then runs along the batch, so that every sample sees the ones before it and none sees its own past. `out[:, -1]` picks the last
*sample* of each "batch". The loss still falls somewhat, because each position is processed.

Say what the input is:

```python
self.rnn = nn.LSTM(features, hidden, batch_first=True)
self.layer = nn.TransformerEncoderLayer(width, heads, batch_first=True)
last = self.rnn(x)[0][:, -1]
```

The hidden state `h_n` is (layers, batch, hidden) in either case.
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, scopes, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/Ligouhai-bigone/Sentiment-Analysis-Chinese-pytorch/issues/1",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_RNNS = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["depends_on_neighbours"] > 0.01
    assert good["depends_on_neighbours"] < 1e-6


def find(source: Source) -> Iterator[Hit]:
    seen = set()
    for taken in source.all(ast.Subscript):
        if not _last_of_second(taken):
            continue
        made = _rnn(source, taken.value)
        if made is None or id(made) in seen or not tree.lacks(made, 4, "batch_first"):
            continue
        seen.add(id(made))
        code = source.code(taken)
        edit = edits.add_keyword(source, made, "batch_first", "True")
        message = f"`{code}` (line {taken.lineno}) takes the last sample, time is the first dimension here: add `batch_first=True`"
        yield source.hit(made, message, edit, safe=False)


def _last_of_second(taken: ast.Subscript) -> bool:
    """`out[:, -1]` or `out[:, -1, :]`."""
    parts = taken.slice.elts if isinstance(taken.slice, ast.Tuple) else []
    whole = len(parts) in (2, 3) and isinstance(parts[0], ast.Slice) and parts[0].lower is parts[0].upper is None
    return whole and tree.literal(parts[1]) == -1


def _rnn(source: Source, node: ast.expr) -> ast.Call | None:
    """The constructor of the RNN whose output sequence this is, if it stands in this file."""
    path: tuple[int, ...] = ()
    if isinstance(node, ast.Name):
        bindings = scopes.reaching(source, node)
        if len(bindings) != 1 or bindings[0].how != "assign" or bindings[0].value is None:
            return None
        node, path = bindings[0].value, bindings[0].path
    elif isinstance(node, ast.Subscript):
        path = (0,) if tree.literal(node.slice) == 0 else ()
        node = node.value
    if not isinstance(node, ast.Call) or path != (0,):
        return None
    layer = values.made_by(source, node.func, *_RNNS)
    return layer.node if layer is not None and isinstance(layer.node, ast.Call) and layer.source is source else None
