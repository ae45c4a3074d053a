"""A label map resized with bilinear interpolation gets classes that were never there.

Halfway between class 0 and class 4 lies class 2. Interpolating a mask of class numbers and casting it back to integers draws
a rim of wrong labels round every object. Images are interpolated, label maps are looked up.

Use the nearest neighbour for the mask: `F.interpolate(mask, size, mode="nearest")`,
`resize(mask, size, interpolation=InterpolationMode.NEAREST)`, `mask.resize(size, Image.NEAREST)`,
`cv2.resize(mask, size, interpolation=cv2.INTER_NEAREST)`; or `tv_tensors.Mask`, which does it by itself.
"""

ROWS = ()
SOURCES = ("https://github.com/divamgupta/image-segmentation-keras/issues/11",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, list[int]], good: dict[str, list[int]]) -> None:
    assert good["classes"] == [0, 4]
    assert len(bad["classes"]) > 2
