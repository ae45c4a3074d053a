"""Stacked recurrent cells need a state each: one `h` that goes through all of them is nobody's memory.

`for cell in self.cells: h = cell(x, h)` looks like a stack of layers. The second cell is given the state that the first has just made,
and in the next step of time the first cell gets the state of the last: no layer ever sees what it remembered itself. It trains, and
remembers less than one layer would.

A recurrent layer that is stepped by hand, one word at a time, has to be given its last state too: `out, _ = self.gru(word)` begins each
step with zeros, knows nothing of what came before, and what the encoder handed over is never read.

Keep a list, one state for each cell: `for k, cell in enumerate(self.cells): hs[k] = cell(x, hs[k]); x = hs[k]`. Or take `nn.GRU` with
`num_layers`, which does so.
"""

ROWS = ()
SOURCES = ("https://github.com/pclucas14/GansFallingShort/pull/2",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["loss"] < 0.5 * bad["loss"]
