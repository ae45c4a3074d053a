"""The rule of one-state-for-all-cells."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, origin, tree, values
from torchlore.check.source import Hit, Source

_LAYERS = ("torch.nn.GRU", "torch.nn.LSTM", "torch.nn.RNN")
_CALLED = ("GRU(", "LSTM(", "RNN(")
_CHOICES = ("argmax", "topk", "max", "multinomial", "sample")
_CELLS = ("torch.nn.GRUCell", "torch.nn.LSTMCell", "torch.nn.RNNCell")

WORDS = ("*cell*|*gru*|*lstm*|*rnn*",)


def find(source: Source) -> Iterator[Hit]:
    yield from _stepped_without_state(source)
    for loop in source.all(ast.For) if "Cell(" in source.text else ():
        for call in (one for one in tree.under(source, loop, ast.Call) if len(one.args) == 2):
            held, cell = source.parents[call], call.func
            same = isinstance(held, ast.Assign) and _names(held.targets[0]) == _names(call.args[1]) != []
            name = cell.slice if isinstance(cell, ast.Subscript) else cell  # `self.cells[k](x, h)`
            over = same and isinstance(name, ast.Name) and _is_one_of(loop, name.id)
            steps = [
                one for one in tree.loops(source, loop) if tree.function(source, one) is tree.function(source, loop)
            ]
            if over and steps and values.made_by(source, cell, *_CELLS) is not None:
                state = source.code(call.args[1])
                told = f"`{state}` goes through all cells, so none of them gets back what it remembered"
                yield source.hit(call, f"{told}: keep a list with a state for each")


def _stepped_without_state(source: Source) -> Iterator[Hit]:
    """`for t in range(n): out, _ = self.gru(self.emb(word))`, where `word` is one step of what is read or written."""
    for loop in source.all(ast.For) if any(one in source.text for one in _CALLED) else ():
        for call in tree.under(source, loop, ast.Call):
            alone = len(call.args) == 1 and not call.keywords and tree.loops(source, call)[:1] == [loop]
            step = alone and _one_step(source, loop, call.args[0], batch_first=True)  # which costs less than the layer
            layer = _recurrent(source, call) if step else None
            first = layer is not None and tree.literal(tree.argument(layer, 4, "batch_first")) is True
            if layer is None or not _one_step(source, loop, call.args[0], batch_first=first):
                continue
            name, word = source.code(call.func), source.code(call.args[0])
            told = f"`{name}` begins every step with zeros here and forgets what came before"
            yield source.hit(
                call, f"{told}: hand its state on, `out, state = {name}({word}, state)`", severity="warning"
            )


def _recurrent(source: Source, call: ast.Call) -> ast.Call | None:
    """The layer that a call runs, itself or in a net of `def forward(self, x, state=None)` that hands the state on to it."""
    found = values.made_by(source, call.func, *_LAYERS)
    inner = origin.behind(source, call) if found is None and values.sure(source, call.func, "module") else None
    last = tree.parameters(inner.node)[2:] if inner is not None and inner.node.name == "forward" else []
    if inner is not None and len(last) == 1 and re.search(r"state|hidden|^h[xc]?\d?$", last[0].arg):
        runs = [one for one in tree.under(inner.source, inner.node, ast.Call) if len(one.args) == 2]
        handed = [one for one in runs if tree.dotted(one.args[1]) == last[0].arg]
        found = values.made_by(inner.source, handed[0].func, *_LAYERS) if len(handed) == 1 else None
    return found.node if found is not None and isinstance(found.node, ast.Call) else None


def _one_step(source: Source, loop: ast.For, given: ast.expr, *, batch_first: bool) -> bool:
    """`x[:, t:t + 1]`, or a word that this loop chooses for its next turn; not a layer's whole output, nor a text that grows."""
    turn = loop.target.id if isinstance(loop.target, ast.Name) and batch_first else ""
    names = {one.id for one in ast.walk(given) if isinstance(one, ast.Name)}
    sets = [one for one in tree.under(source, loop, ast.Assign) if names & {*_names(one.targets[0])}]
    parts = [part for one in sets for part in ast.walk(one.value)]
    words = [follow.word(source, one) for one in parts if isinstance(one, ast.Call)]
    if {"cat", "hstack", "stack", "concat"} & {*words}:
        return False
    wide = any(isinstance(one, ast.Call) and follow.method(one) == "unsqueeze" for one in (*ast.walk(given), *parts))
    cut = any(_cut_at(source, one, turn, wide=wide) for one in (*ast.walk(given), *parts))
    return cut or bool({*_CHOICES} & {*words})


def _cut_at(source: Source, node: ast.AST, turn: str, *, wide: bool) -> bool:
    """`[:, t:t + 1]`, and `[:, t]` where a dimension of 1 is put back; else it may be a sentence of many."""
    parts = node.slice.elts if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) else []
    second = parts[1] if turn and len(parts) > 1 else None
    if isinstance(second, ast.Slice) and second.lower is not None and second.upper is not None:
        return source.code(second.lower) == turn and source.code(second.upper).replace(" ", "") == f"{turn}+1"
    return wide and second is not None and tree.dotted(second) == turn


def _names(node: ast.expr) -> list[str]:
    """`h` and `c` of `h`, of `h, c` and of `(h, c)`."""
    return [one.id for one in (node.elts if isinstance(node, ast.Tuple) else [node]) if isinstance(one, ast.Name)]


def _is_one_of(loop: ast.For, name: str) -> bool:
    """Whether a name is what the loop goes over, not what another loop hands out."""
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(loop.target))
