"""Casting a float image to bytes does not scale, and what lies outside 0 to 255 wraps round.

`array.astype(np.uint8)` on values in [0, 1] gives a black image. After `* 255` a value a hair above 1 becomes 0: white
spots turn black. `to_pil_image` multiplies and casts, but does not clamp: 1.2 comes out as 50. Clamping by hand and
calling `to_pil_image` are therefore not the same. All of them cut off instead of rounding, and all want one image
(C, H, W), not a batch.

Clamp, scale, round, cast, in that order: `(x.clamp(0, 1) * 255).round().byte()`. `torchlore.recipes.tensors.to_pil`
does it for a tensor, `array_to_pil` for an array. For a batch use `torchvision.utils.save_image` or `make_grid`, which
clamp.
"""

from typing import Any

ROWS = ("tensor-to-pil", "tensor-np-pil")
SOURCES = ("003:89-94", "003:100-106")
TORCH = "2.11, 2.15"
NEEDS = ("numpy", "PIL", "torchvision")
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import torch
    from torchvision.transforms.functional import to_pil_image

    from torchlore.recipes.tensors import to_pil

    assert bad["levels"] <= 2  # a black image
    assert good["levels"] > 250
    assert good["top"] == 255

    over = torch.tensor([1.2, -0.1]).view(1, 1, 2).expand(3, 1, 2)
    assert [to_pil_image(over).getpixel((i, 0))[0] for i in (0, 1)] == [50, 231]  # type: ignore[index]  # an RGB pixel
    assert [to_pil_image(over.clamp(0, 1)).getpixel((i, 0))[0] for i in (0, 1)] == [255, 0]  # type: ignore[index]  # an RGB pixel
    assert [to_pil(over).getpixel((i, 0))[0] for i in (0, 1)] == [255, 0]  # type: ignore[index]  # an RGB pixel
    assert (torch.tensor(0.999) * 255).byte() == 254  # cut off
    assert (torch.tensor(0.999) * 255).round().byte() == 255
