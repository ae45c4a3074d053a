"""`out[:, -1]` of a padded batch is what the RNN says after the padding, not after the last word.

Sequences of a batch are filled up to one length. The last column belongs to the longest one; for the others the RNN has gone on over
padding for as many steps as they are shorter, and forgets. The result then depends on how long the neighbours in the batch are.

Take the state at each sequence's own end, or do not run over the padding at all:

```python
last = out[torch.arange(len(lengths)), lengths - 1]

packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
_, (h, _) = self.lstm(packed)      # h[-1] is the state at each end
```
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import scopes, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = (
    "https://discuss.pytorch.org/t/simple-working-example-how-to-use-packing-for-variable-length-sequence-inputs-for-rnn/2120",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_RNNS = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")
_LENGTHS = regex(r"^(\w+_)?(lens?|lengths?)$", re.IGNORECASE)


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["depends_on_padding"] > 0.01
    assert good["depends_on_padding"] < 1e-6


def find(source: Source) -> Iterator[Hit]:
    for taken in source.all(ast.Subscript):
        home = tree.function(source, taken) if _last_column(taken) else None
        if home is None or not _of_rnn(source, taken.value):
            continue
        given = [arg.arg for arg in tree.parameters(home) if _LENGTHS.match(arg.arg)]
        read = {node.id for node in ast.walk(home) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        if not given and _padded_behind(source):
            told = "the shorter sequences were filled up behind their end (pad_sequence), and this reads the filling"
            yield source.hit(taken, f"{told}: pass the lengths and pack the batch, or take the step at `length - 1`")
        if given and given[0] not in read and not _padded_in_front(source):
            code = source.code(taken.value)
            message = (
                f"`{source.code(taken)}` comes after the padding of the shorter ones, and `{given[0]}` is not used: take "
                f"`{code}[torch.arange(len({given[0]})), {given[0]} - 1]`"
            )
            yield source.hit(taken, message)


def _padded_in_front(source: Source) -> bool:
    """Keras' `pad_sequences` fills up before the first word, unless it is told otherwise: the last step is a real one."""
    texts = [source.text, *(source.project.text(path) or "" for path in source.project.importers(source.module))]
    return any("pad_sequences(" in one and "post" not in one for one in texts)


def _padded_behind(source: Source) -> bool:
    """Whether the file fills up its inputs at the end, and nothing in it knows how long they are."""
    knows = re.search(r"pack_padded|pack_sequence|lengths?\b|lens\b|padding_side|flip\(|[Mm]ask", source.text)
    padded = [call for call in source.calls("torch.nn.utils.rnn.pad_sequence") if _is_first(source, call)]
    return bool(padded) and knows is None


def _is_first(source: Source, call: ast.Call) -> bool:
    """Whether this is filled up with the batch first and is no label."""
    held = tree.statement(source, call)
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) and held.value is call else "x"
    label = re.search(r"(^|_)(y|ys|tgt|trg|targets?|labels?|tags?)($|_)", name)
    return tree.literal(tree.argument(call, 1, "batch_first")) is True and label is None


def _last_column(taken: ast.Subscript) -> bool:
    """`out[:, -1]` or `out[:, -1, :]`."""
    parts = taken.slice.elts if isinstance(taken.slice, ast.Tuple) else []
    whole = len(parts) in (2, 3) and isinstance(parts[0], ast.Slice) and parts[0].lower is parts[0].upper is None
    return whole and tree.literal(parts[1]) == -1


def _of_rnn(source: Source, node: ast.expr) -> bool:
    """Whether this is the output of an RNN that was given the padded batch itself, the batch first."""
    found = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    one = found[0] if len(found) == 1 else None
    if one is None or one.path != (0,) or not isinstance(one.value, ast.Call):
        return False
    made = values.made_by(source, one.value.func, *_RNNS)
    first = (
        tree.argument(made.node, None, "batch_first") if made is not None and isinstance(made.node, ast.Call) else None
    )
    return first is not None and tree.literal(first) is True
