"""A loss or head with parameters of its own must be given to the optimizer too.

Center loss, ArcFace, learned temperatures and uncertainty weights are modules with parameters. An optimizer built from the
network's parameters does not know them: they get gradients in every step, and stay what they were drawn as.

Give it both: `optim.SGD([*model.parameters(), *criterion.parameters()], lr=0.1)`, or make the one a part of the other.
"""

ROWS = ()
SOURCES = (
    "https://github.com/KaiyangZhou/pytorch-center-loss/issues/22",
    "https://github.com/4uiiurz1/pytorch-adacos/issues/10",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0
