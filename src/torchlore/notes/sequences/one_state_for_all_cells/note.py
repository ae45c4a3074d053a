"""Stacked recurrent cells need a state each: one `h` that goes through all of them is nobody's memory.

`for cell in self.cells: h = cell(x, h)` looks like a stack of layers. The second cell is given the state that the first has just made,
and in the next step of time the first cell gets the state of the last: no layer ever sees what it remembered itself. It trains, and
remembers less than one layer would.

A recurrent layer that is stepped by hand, one word at a time, has to be given its last state too: `out, _ = self.gru(word)` begins each
step with zeros, knows nothing of what came before, and what the encoder handed over is never read.

Keep a list, one state for each cell: `for k, cell in enumerate(self.cells): hs[k] = cell(x, hs[k]); x = hs[k]`. Or take `nn.GRU` with
`num_layers`, which does so.
"""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/pclucas14/GansFallingShort/pull/2",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_LAYERS = ("torch.nn.GRU", "torch.nn.LSTM", "torch.nn.RNN")
_CHOICES = ("argmax", "topk", "max", "multinomial", "sample")
_CELLS = ("torch.nn.GRUCell", "torch.nn.LSTMCell", "torch.nn.RNNCell")


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["loss"] < 0.5 * bad["loss"]


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
    for loop in source.all(ast.For) if any(f"{one[9:]}(" in source.text for one in _LAYERS) else ():
        for call in tree.under(source, loop, ast.Call):
            alone = len(call.args) == 1 and not call.keywords and tree.loops(source, call)[:1] == [loop]
            if (
                not alone
                or not _one_step(source, loop, call.args[0])
                or values.made_by(source, call.func, *_LAYERS) is None
            ):
                continue
            name = source.code(call.func)
            told = f"`{name}` begins every step with zeros here and forgets what came before"
            yield source.hit(
                call, f"{told}: hand its state on, `out, state = {name}({source.code(call.args[0])}, state)`"
            )


def _one_step(source: Source, loop: ast.For, given: ast.expr) -> bool:
    """`x[:, t:t + 1]`, `x[:, t].unsqueeze(1)`, or a word that this loop chooses for its next turn; not a layer's whole output."""
    turn = loop.target.id if isinstance(loop.target, ast.Name) else ""
    if any(_cut_at(source, one, turn) for one in ast.walk(given)):
        return True
    names = {one.id for one in ast.walk(given) if isinstance(one, ast.Name)}
    sets = [one for one in tree.under(source, loop, ast.Assign) if names & {*_names(one.targets[0])}]
    parts = [part for one in sets for part in ast.walk(one.value)]
    chosen = any(isinstance(one, ast.Call) and follow.method(one) in _CHOICES for one in parts)
    return chosen or any(_cut_at(source, one, turn) for one in parts)


def _cut_at(source: Source, node: ast.AST, turn: str) -> bool:
    """`[:, t]`, `[:, t:t + 1]`, `[t]`."""
    if not turn or not isinstance(node, ast.Subscript):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    single = [one for one in parts if tree.dotted(one) == turn]
    cut = [one for one in parts if isinstance(one, ast.Slice) and one.lower is not None and one.upper is not None]
    ends = [(source.code(one.lower), source.code(one.upper).replace(" ", "")) for one in cut if one.lower and one.upper]
    single = single if isinstance(node.slice, ast.Tuple) else []  # `windows[i]` may be a whole sequence
    return bool(single) or any(lower == turn and upper in (f"{turn}+1", f"1+{turn}") for lower, upper in ends)


def _names(node: ast.expr) -> list[str]:
    """`h` and `c` of `h`, of `h, c` and of `(h, c)`."""
    return [one.id for one in (node.elts if isinstance(node, ast.Tuple) else [node]) if isinstance(one, ast.Name)]


def _is_one_of(loop: ast.For, name: str) -> bool:
    """Whether a name is what the loop goes over, not what another loop hands out."""
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(loop.target))
