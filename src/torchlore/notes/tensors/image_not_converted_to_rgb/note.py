"""An image file is not always RGB: convert it before it becomes a tensor.

`Image.open` keeps what the file holds. A grey image gives one channel, a PNG with transparency four, a palette image
one channel of colour *numbers* that look like grey but mean nothing, a 16-bit image integers that are not divided by
anything. `to_tensor` takes them all in silence; the three-channel network then fails on the first such file, or, for
the palette, learns from nonsense. Neither looks at the EXIF tag that says the picture lies on its side.

Write `Image.open(path).convert("RGB")` (or `"L"` where you want grey) every time, and `ImageOps.exif_transpose(image)`
first for photographs. Then `v2.ToImage()` and `v2.ToDtype(torch.float32, scale=True)`.
`torchlore.recipes.tensors.from_pil(image)` does all of it.
"""

from typing import Any

ROWS = ("tensor-from-pil",)
SOURCES = ("003:95-98",)
TORCH = "2.11, 2.15"
NEEDS = ("numpy", "PIL", "torchvision")
SEVERITY = "hint"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import numpy as np
    import torch
    from PIL import Image
    from torchvision.transforms.functional import to_tensor

    from torchlore.recipes.tensors import from_pil

    assert bad["shapes"] == [(3, 8, 8), (1, 8, 8), (4, 8, 8), (1, 8, 8)]
    assert good["shapes"] == [(3, 8, 8)] * 4
    assert good["white"] == [1.0] * 4
    assert bad["white"][3] < 0.5  # the number of a colour in the palette, not a brightness

    pixels = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    by_hand = torch.from_numpy(pixels.copy()).permute(2, 0, 1).float() / 255
    assert torch.equal(by_hand, to_tensor(Image.fromarray(pixels)))  # the same for plain RGB only
    assert torch.equal(by_hand, from_pil(Image.fromarray(pixels)))
    deep = Image.fromarray(np.full((2, 2), 65535, dtype=np.uint16))
    assert to_tensor(deep).max() != 1  # white, and not 1
    assert from_pil(deep).max() == 1
    sideways = Image.new("RGB", (4, 2))
    assert to_tensor(sideways).shape == (3, 2, 4)  # width first in PIL, height first in torch
