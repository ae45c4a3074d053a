"""`norm1` called twice and `norm2` never: the copied line kept its number, and nothing raises.

A block with `norm1` and `norm2`, `conv1` and `conv2` is written by copying a line. Where the number is not changed, one layer does the
work of both and the other is dead weight: it stands in `parameters()` and in the checkpoint, gets no gradient, and the network is
smaller than its paper. The sizes agree, so no shape complains; a shared batch norm even mixes the statistics of two places.

A gap in a numbered row is the same slip: `layer1`, `layer3` and `layer4` run, `layer2` was forgotten, and its output would have had the
right size. So is `h, c = h[order], h[order]`: the copied half kept its name, and `c` is lost.

Call the layer that was made for the place: `self.norm2(x)`. Where one layer is to do both, make only one.
"""

ROWS = ()
SOURCES = (
    "https://github.com/inria-thoth/HySUPP/issues/3",
    "https://github.com/salesforce/decaNLP/issues/9",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0
