"""Binary cross-entropy takes targets from 0 to 1: with -1 or 255 the loss has no lower end.

`binary_cross_entropy_with_logits` does not look at the range of its targets. With labels of -1 and 1 (as for an SVM), a mask of 0
and 255, or class numbers, the loss can be lowered for ever by larger outputs: it becomes negative, the weights grow, and the
probabilities mean nothing. `binary_cross_entropy` refuses such targets.

Map them first: `(label + 1) / 2`, `mask / 255`, or `mask > 0`, as float.
"""

ROWS = ()
SOURCES = (
    "https://github.com/milesial/Pytorch-UNet/issues/78",
    "https://github.com/bigmb/Unet-Segmentation-Pytorch-Nest-of-Unets/issues/18",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["loss"] < 0
    assert good["loss"] > 0
