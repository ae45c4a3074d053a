"""Evaluate with the `Normalize` of the training: on another scale the network sees what is new to it.

The transform of the training set ends in `Normalize`, the one of the test set stops at `ToTensor`, or has the mean and std of
another data set. Nothing raises. All inputs of the evaluation are shifted and of another size than those the weights
were fitted to: the loss of the validation stands far above that of the training from the first epoch on, and looks like overfitting.

Write the constants once and use them in both transforms; only the random parts belong to the training alone.
"""

ROWS = ()
SOURCES = (
    "https://github.com/JeasunLok/ResNet-pytorch/issues/1",
    "https://github.com/leeyeehoo/CSRNet-pytorch/issues/25",
)
TORCH = "2.11, 2.15"
NEEDS = ("torchvision",)
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["accuracy"] > 0.95
    assert bad["accuracy"] < 0.7
