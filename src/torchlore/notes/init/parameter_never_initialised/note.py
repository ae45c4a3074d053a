"""`nn.Parameter(torch.empty(n, m))` holds whatever was in memory; nobody initialises it for you.

`torch.empty` and `torch.Tensor(n, m)` reserve memory and fill nothing. Layers of torch call `reset_parameters` in their constructor; a
parameter of your own stays as it is: zeros on a fresh page, the numbers of a tensor that was freed, 1e30 or NaN now and then.
The run is different each time whatever the seed, and fails on one machine only.

A sum that starts at `torch.empty(1)` or `torch.FloatTensor(1)` is the same mistake: it starts anywhere.

Fill it where it is made: `nn.init.xavier_uniform_(self.weight)` below, or `nn.Parameter(torch.randn(n, m) * 0.02)`.
"""

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/47112",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["largest"] == 1e30  # what the memory held before
    assert good["largest"] < 1
