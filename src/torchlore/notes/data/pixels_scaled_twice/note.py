"""`ToTensor` scales bytes to [0, 1] and floats not at all: divide by 255 once, and only once.

`ToTensor()` and `ToDtype(float32, scale=True)` divide uint8 pixels by 255. A second `/ 255` afterwards leaves a picture
between 0 and 0.004: nearly black, and after `Normalize` nearly constant. A float array is passed through as it is: pixels
of 0 to 255 that were cast with `.astype("float32")` first stay 0 to 255.

Let one place scale, and let it see bytes: `v2.ToImage(), v2.ToDtype(torch.float32, scale=True)` on the uint8 picture.
"""

ROWS = ()
SOURCES = ("https://github.com/pkmital/pycadl/pull/5", "https://github.com/pytorch/vision/issues/546")
TORCH = "2.11, 2.15"
NEEDS = ("torchvision",)
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import numpy as np
    from torchvision.transforms import ToTensor

    assert bad["brightest"] < 0.005
    assert good["brightest"] == 1.0
    bytes_ = np.full((2, 2, 1), 255, dtype=np.uint8)
    assert float(ToTensor()(bytes_).max()) == 1.0
    assert float(ToTensor()(bytes_.astype(np.float32)).max()) == 255.0  # floats are not scaled
