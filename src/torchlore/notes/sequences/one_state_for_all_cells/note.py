"""Stacked recurrent cells need a state each: one `h` that goes through all of them is nobody's memory.

`for cell in self.cells: h = cell(x, h)` looks like a stack of layers. The second cell is given the state that the first has just made,
and in the next step of time the first cell gets the state of the last: no layer ever sees what it remembered itself. It trains, and
remembers less than one layer would.

Keep a list, one state for each cell: `for k, cell in enumerate(self.cells): hs[k] = cell(x, hs[k]); x = hs[k]`. Or take `nn.GRU` with
`num_layers`, which does so.
"""

import ast
from collections.abc import Iterator

from torchlore.check import tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/pclucas14/GansFallingShort/pull/2",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_CELLS = ("torch.nn.GRUCell", "torch.nn.LSTMCell", "torch.nn.RNNCell")


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["loss"] < 0.5 * bad["loss"]


def find(source: Source) -> Iterator[Hit]:
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


def _names(node: ast.expr) -> list[str]:
    """`h` and `c` of `h`, of `h, c` and of `(h, c)`."""
    return [one.id for one in (node.elts if isinstance(node, ast.Tuple) else [node]) if isinstance(one, ast.Name)]


def _is_one_of(loop: ast.For, name: str) -> bool:
    """Whether a name is what the loop goes over, not what another loop hands out."""
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(loop.target))
