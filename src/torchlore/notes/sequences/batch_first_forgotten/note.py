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
_BLOCK = "torch.nn.TransformerEncoderLayer"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["depends_on_neighbours"] > 0.01
    assert good["depends_on_neighbours"] < 1e-6


def find(source: Source) -> Iterator[Hit]:
    seen = set()
    found = [(one, one.value) for one in source.all(ast.Subscript) if _of_second(one)]
    means = [call for call in source.methods("mean") if tree.literal(tree.argument(call, 0, "dim")) == 1]
    both: list[tuple[ast.expr, ast.expr]] = [*found, *((call, tree.receiver(call)) for call in means)]
    for taken, whole in both:
        made, position = _layer(source, whole)
        if made is None or id(made) in seen or not tree.lacks(made, position, "batch_first"):
            continue
        seen.add(id(made))
        edit = edits.add_keyword(source, made, "batch_first", "True")
        place = f"`{source.code(taken)}` (line {taken.lineno})"
        message = f"time is the first dimension here and {place} goes along the samples: add `batch_first=True`"
        yield source.hit(made, message, edit, safe=False)


def _of_second(taken: ast.Subscript) -> bool:
    """`out[:, -1]`, `out[:, 0]` or `out[:, -1, :]`."""
    parts = taken.slice.elts if isinstance(taken.slice, ast.Tuple) else []
    whole = len(parts) in (2, 3) and isinstance(parts[0], ast.Slice) and parts[0].lower is parts[0].upper is None
    return whole and tree.literal(parts[1]) in (0, -1)


def _layer(source: Source, node: ast.expr) -> tuple[ast.Call | None, int]:
    """The constructor of the layer whose output sequence this is, and where `batch_first` stands in it."""
    path: tuple[int, ...] = ()
    if isinstance(node, ast.Name):
        bindings = scopes.reaching(source, node)
        if len(bindings) != 1 or bindings[0].how != "assign" or bindings[0].value is None:
            return None, 0
        node, path = bindings[0].value, bindings[0].path
    elif isinstance(node, ast.Subscript):
        path = (0,) if tree.literal(node.slice) == 0 else ()
        node = node.value
    if not isinstance(node, ast.Call):
        return None, 0
    if path == (0,):
        return _here(source, values.made_by(source, node.func, *_RNNS)), 4
    stack = _here(source, values.made_by(source, node.func, "torch.nn.TransformerEncoder")) if path == () else None
    block = tree.argument(stack, 0, "encoder_layer") if stack is not None else node.func if path == () else None
    return _here(source, values.made_by(source, block, _BLOCK)) if block is not None else None, 6


def _here(source: Source, made: values.Value | None) -> ast.Call | None:
    return made.node if made is not None and isinstance(made.node, ast.Call) and made.source is source else None
