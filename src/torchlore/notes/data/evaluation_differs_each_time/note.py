"""Augmentation in the validation set gives other data at every evaluation.

Where training and validation are split off one data set, they share its transform: flips, crops and noise are drawn for the
validation samples as well. Each epoch is then measured on other pictures, and harder ones than the real data: the curve is
noisy, early stopping follows luck, and the result cannot be repeated.

Make the data set twice, once with and once without augmentation, and split both by the same indices:
`Subset(Pictures(train=True), first)` and `Subset(Pictures(train=False), rest)`.
"""

ROWS = ()
SOURCES = (
    "https://github.com/udacity/deep-learning-v2-pytorch/issues/132",
    "https://github.com/gpleiss/efficient_densenet_pytorch/issues/51",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["versions"] == 3
    assert good["versions"] == 1
