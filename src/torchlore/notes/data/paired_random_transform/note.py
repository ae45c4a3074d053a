"""A random transform called on the image and again on its mask draws twice: they no longer fit.

`image = self.transform(image)` and `mask = self.transform(mask)` look symmetric, but each call draws its own flip, crop
and rotation. Half of the masks are then flipped against their image, and the model learns an average of the two.

A flip or a crop of the image alone does the same.

Transform both in one call, with torchvision's v2: wrap the mask as `tv_tensors.Mask` and write
`image, mask = self.transform(image, mask)`; the draw is shared, and colours are left alone on the mask. Or draw once and
use the functional forms.
"""

ROWS = ()
SOURCES = ("https://github.com/thuanz123/realfill/issues/4",)
TORCH = "2.11, 2.15"
NEEDS = ("torchvision",)
SEVERITY = "error"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["misaligned"] > 20
    assert good["misaligned"] == 0
