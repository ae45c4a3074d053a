"""`hard - soft + soft.detach()` passes the gradient on with the wrong sign.

The straight-through trick gives the value of a hard choice and the gradient of a soft one: `hard - soft.detach() + soft`. The two
`soft` cancel in value, and the one without `detach()` carries the gradient. With the `detach()` on the other one the value is
still that of `hard`, and the gradient is the negative: training climbs where it should descend, and the curve of the loss is
the only thing that tells.

Write `hard + soft - soft.detach()`, or `hard.detach() + soft - soft.detach()` where `hard` has a graph of its own.
"""

ROWS = ()
SOURCES = ("https://pytorch.org/docs/stable/generated/torch.nn.functional.gumbel_softmax.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["cost"] == 4
    assert good["cost"] == 1
