"""Random augmentation in the validation transform makes the metric a lottery, and usually a worse one.

Flips, random crops and colour jitter belong to training. In the transform of the validation or test set the same picture
is another one at each evaluation: two runs of one checkpoint differ, early stopping follows the noise, and the score is
lower than the model's.

Keep it deterministic: `Resize`, `CenterCrop`, `ToDtype`, `Normalize`, or `weights.transforms()`. If you average over
augmented copies on purpose, name it so (`tta_transform`).
"""

ROWS = ()
SOURCES = ("https://github.com/zoogzog/chexnet/issues/27",)
TORCH = "2.11, 2.15"
NEEDS = ("torchvision",)
SEVERITY = "warning"


def claim(bad: dict[str, bool], good: dict[str, bool]) -> None:
    assert not bad["repeats"]
    assert good["repeats"]
