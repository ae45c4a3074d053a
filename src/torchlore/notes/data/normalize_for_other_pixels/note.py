"""`ToTensor` gives pixels between 0 and 1, so `Normalize` takes means and deviations of that scale.

`ToTensor` divides bytes by 255. `Normalize([123.675, 116.28, 103.53], [58.395, 57.12, 57.375])` behind it, the numbers of the ImageNet
pixels from 0 to 255, maps every picture to about -2.1, the same in every place: the contrast that is left is a 255th of what it
should be. The loss falls a little, by the biases.

Use the numbers of the scale that comes in: `Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])`, or divide both by 255.
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.Normalize.html",)
TORCH = "2.11, 2.15"
NEEDS = ("torchvision",)
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["spread"] < 0.01
    assert good["spread"] > 0.5
