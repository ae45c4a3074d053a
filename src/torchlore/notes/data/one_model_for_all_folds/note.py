"""Cross-validation with one model for all folds tests on what it was trained on a fold before.

The model is made before the loop over the folds. In the second fold it starts from the weights of the first, and its
validation samples were among those the first fold trained on. The score climbs from fold to fold, and their mean says nothing about
new data. The optimizer carries its momentum over in the same way.

Make model and optimizer inside the loop, or load the untrained state at its start:
`model.load_state_dict(copy.deepcopy(initial))`.
"""

ROWS = ()
SOURCES = (
    "https://github.com/BMEII-AI/RadImageNet/issues/5",
    "https://github.com/McSpooder/camull-net/issues/6",
    "https://github.com/kkraoj/lfmc_from_sar/issues/5",
)
TORCH = "2.11, 2.15"
NEEDS = ("sklearn",)
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["accuracy"] > 0.7  # the labels are random
    assert good["accuracy"] < 0.6
