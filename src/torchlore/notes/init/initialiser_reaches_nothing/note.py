"""An initialiser that is never called, or asks for layers the network has not, leaves the defaults.

`init_weights` is written and nobody calls it; or `net.apply(init)` asks `isinstance(m, nn.Conv2d)` while the network is made of
`nn.Linear`, or asks `m == nn.Linear`, which no layer is; or it fills a copy, `m.weight.clone()`. Nothing says so: the layers have PyTorch's default, results differ from
the paper's, and changing the gain changes nothing.

Call it at the end of `__init__`, and ask for the classes that are there: `isinstance(m, (nn.Linear, nn.Conv2d))`.
"""

ROWS = ()
SOURCES = (
    "https://github.com/YannDubs/Neural-Process-Family/pull/15",
    "https://github.com/facebookresearch/fairchem/pull/809",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["spread"] > 0.05
    assert abs(good["spread"] - 0.01) < 0.003
