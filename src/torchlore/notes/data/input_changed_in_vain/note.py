"""What is made of the input and never read does not reach the network.

`augmented = self.transform(image)` and then `return image, label`; `scaled = (x - mean) / std` and then `model(x)`; `mixed, y1, y2, share =
mixup(x, y)` and then `model(x)`. One line got the new name and the next one kept the old. Shapes and types are the same, so the network
trains on what was meant to be changed: without the augmentation, on raw pixels, on inputs without noise.

Give the network, or return, the new name.
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/vision/stable/transforms.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["mean"] > 90
    assert abs(good["mean"]) < 1
