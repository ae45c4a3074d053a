"""Two parts with equal weights that see the same data stay equal: an ensemble of one.

Setting the seed before each member of an ensemble, copying one network for all heads, or filling weights from the same tensor
gives parts that start equal. Trained on the same batches with the same loss they get the same gradients, and stay equal to
the last bit. Five members cost five times as much and know what one knows; the minimum of two critics is one critic.

Seed once, before all of them are made, or give each its own seed; `copy.deepcopy` a part only where it is trained otherwise.
"""

ROWS = ()
SOURCES = ("https://github.com/moskomule/pytorch.snapshot.ensembles/issues/1",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["spread"] == 0
    assert good["spread"] > 0.01
