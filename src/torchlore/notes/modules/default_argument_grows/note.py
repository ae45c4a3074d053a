"""A default list belongs to the function: layers appended to it are in the next network too.

`def mlp(sizes, layers=[])` makes the list once, when `def` runs. The first call appends its layers and returns a `Sequential` of
them; the second call finds them still there, appends its own and returns a network that begins with the first one. Actor and
critic share weights, and the optimizer sees them twice. Histories of losses grow the same way.

Make it inside: `def mlp(sizes, layers=None)` and `layers = [] if layers is None else layers`.
"""

ROWS = ()
SOURCES = (
    "https://github.com/wengong-jin/icml18-jtnn/issues/10",
    "https://github.com/huggingface/accelerate/pull/3944",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad == {"layers": 4, "shared": 4}
    assert good == {"layers": 2, "shared": 0}
