"""A loop over layers in which each turn begins anew, or calls the first layer, is one layer deep.

`for block in self.blocks: out = block(x)` runs every block on the same `x` and keeps what the last one gave: the others are in
`parameters()`, cost their time, and get no gradient. `for i in range(depth): x = self.layers[0](x)` calls the first one again and again, and
the rest are never called. So is `for layer in self.layers: x = self.layer(x)`. Shapes agree; the network is smaller than it says.

Hand each turn's output to the next: `x = block(x)`, `x = self.layers[i](x)`.
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["trained"] == 1
    assert good["trained"] == 3
