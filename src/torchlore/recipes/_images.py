"""Pictures between torch, NumPy and PIL. Users import these functions from `tensors`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from torchlore.recipes import _wants

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image

_MODES = (
    "1",
    "L",
    "LA",
    "La",
    "P",
    "PA",
    "RGB",
    "RGBA",
    "RGBX",
    "RGBa",
    "CMYK",
    "YCbCr",
    "HSV",
    "LAB",
    "I",
    "F",
    "I;16",
)
_ORIENTATION = 0x0112  # the EXIF tag
_SIXTEEN_BIT = ("I;16", "I;16L", "I;16B", "I;16N")


def to_pil(picture: Tensor) -> Image.Image:
    """One picture (C, H, W) or (H, W) as a PIL image: L for 1 channel, LA for 2, RGB for 3, RGBA for 4.

    Floating pictures lie in [0, 1]: values outside are clamped, the rest is rounded (0.999 is 255, not 254). uint8 is
    taken as it is, bool becomes 0 and 255, uint16 (and int32 in 0..65535) a 16-bit grey image.

    >>> to_pil(torch.tensor([[[0.0, 1.2]], [[0.5, -0.1]], [[0.999, 0.0]]])).getpixel((0, 0))
    (0, 128, 255)
    """
    _wants.kind("to_pil", Tensor, "a tensor", picture=picture)
    if picture.ndim not in (2, 3):
        raise ValueError(
            f"to_pil: the tensor has shape {tuple(picture.shape)}; one picture is (C, H, W) or (H, W): index a batch first."
        )
    plane = picture.detach().cpu()
    if plane.ndim == 3 and plane.shape[0] not in (1, 2, 3, 4):
        hint = (
            "; the channels seem to come last: write picture.permute(2, 0, 1)" if plane.shape[-1] in (1, 3, 4) else ""
        )
        raise ValueError(f"to_pil: the tensor has shape {tuple(picture.shape)}; C must be 1, 2, 3 or 4{hint}.")
    if plane.is_floating_point():
        plane = (plane.float() * 255.0).nan_to_num_(0.0).clamp_(0.0, 255.0).round_().to(torch.uint8)
    elif plane.dtype == torch.bool:
        plane = plane.to(torch.uint8) * 255
    if plane.ndim == 3 and plane.shape[0] > 1 and plane.dtype == torch.uint8 and plane.numel():
        return _merged(plane)
    return array_to_pil((plane.permute(1, 2, 0) if plane.ndim == 3 else plane).contiguous().numpy())


def _merged(planes: Tensor) -> Image.Image:
    """Channel by channel: a fifth of the time that it takes to bring the channels together first."""
    from PIL import Image

    bands = [Image.fromarray(plane.contiguous().numpy()) for plane in planes]
    return Image.merge({2: "LA", 3: "RGB", 4: "RGBA"}[len(bands)], bands)


def from_pil(
    image: Image.Image, *, mode: str | None = "RGB", dtype: torch.dtype = torch.float32, exif: bool = True
) -> Tensor:
    """A PIL image as a tensor (C, H, W): floating dtypes in [0, 1], integer dtypes with the pixel values.

    The image is turned as its EXIF tag says and converted to `mode` first, so that grey, palette, RGBA and CMYK
    pictures all come out with 3 channels; `mode=None` keeps 1, L, LA, RGB, RGBA, F, I and the 16-bit modes as they
    are and expands palettes. A 16-bit grey image is scaled by 65535, never wrapped or cut to 8 bits.

    >>> from PIL import Image
    >>> from_pil(Image.new("L", (4, 2), 255)).shape, from_pil(Image.new("L", (4, 2), 255)).max().item()
    (torch.Size([3, 2, 4]), 1.0)
    """
    _wants.kind("from_pil", torch.dtype, "a dtype of torch", dtype=dtype)
    image = _turned("from_pil", image, mode, exif=exif)
    if not _is_deep(image, mode) and len((image := _converted(image, mode)).getbands()) > 1:
        plane = _planes(image)
    else:
        plane = torch.from_numpy(_array(image, mode))
        plane = plane.permute(2, 0, 1).contiguous() if plane.ndim == 3 else plane.unsqueeze(0)
    if not dtype.is_floating_point:
        return _as_integers(plane, dtype)
    if plane.dtype == torch.bool or plane.is_floating_point():
        return plane.to(dtype)
    top = 255.0 if plane.dtype == torch.uint8 else 65535.0
    return plane.to(torch.float32).div_(top).to(dtype)


def _as_integers(plane: Tensor, dtype: torch.dtype) -> Tensor:
    if plane.dtype not in (torch.uint8, torch.bool) and plane.numel():
        values = plane.to(torch.float64)
        info = torch.iinfo(dtype)
        if values.min() < info.min or values.max() > info.max:
            raise ValueError(
                f"from_pil: the image holds values from {values.min():g} to {values.max():g}, which {dtype} cannot hold; "
                "write dtype=torch.float32 or torch.int32."
            )
    return plane.to(dtype)


def pil_to_array(image: Image.Image, *, mode: str | None = "RGB", exif: bool = True) -> np.ndarray:
    """A PIL image as a writeable array (H, W) or (H, W, C), turned by EXIF and converted to `mode`.

    16-bit grey becomes uint16 in native byte order (repeated for RGB). `mode=None` keeps the image's mode but expands
    a palette.

    >>> from PIL import Image
    >>> pil_to_array(Image.new("P", (4, 2))).shape
    (2, 4, 3)
    """
    return _array(_turned("pil_to_array", image, mode, exif=exif), mode)


def _turned(function: str, image: Image.Image, mode: str | None, *, exif: bool) -> Image.Image:
    """The image as its EXIF tag wants it, after a look at the arguments."""
    from PIL import Image, ImageOps

    _wants.kind(function, Image.Image, "a PIL image", image=image)
    if mode is not None:
        _wants.one_of(function, "mode", mode, _MODES)
    if exif and image.getexif().get(_ORIENTATION, 1) != 1:  # asked first: to turn nothing is to copy
        return ImageOps.exif_transpose(image)
    return image


def _is_deep(image: Image.Image, mode: str | None) -> bool:
    """Whether it holds more than 8 bits a pixel, and they are wanted."""
    return (image.mode in _SIXTEEN_BIT or image.mode == "I") and mode in (None, "RGB", "L", "I;16")


def _converted(image: Image.Image, mode: str | None) -> Image.Image:
    if image.mode == "P" and mode is None:
        return image.convert("RGBA" if "transparency" in image.info else "RGB")
    return image.convert(mode) if mode is not None and image.mode != mode else image


def _planes(image: Image.Image) -> Tensor:
    """The channels one by one, each as it lies in memory: faster than to take them apart later."""
    import numpy as np

    return torch.stack([torch.from_numpy(np.array(band)) for band in image.split()])


def _array(image: Image.Image, mode: str | None) -> np.ndarray:
    import numpy as np

    if not _is_deep(image, mode):
        return np.array(_converted(image, mode))
    array = np.array(image)
    if image.mode != "I":
        array = array.astype(np.uint16)
    elif mode is not None:
        array = _sixteen(array)
    return np.repeat(array[:, :, None], 3, axis=2) if mode == "RGB" else array


def _sixteen(array: np.ndarray) -> np.ndarray:
    """PIL opens some 16-bit PNGs as 32-bit mode I; put them back."""
    import numpy as np

    low, high = int(array.min(initial=0)), int(array.max(initial=0))
    if low < 0 or high > 65535:
        raise ValueError(
            f"pil_to_array: the image holds values from {low} to {high}, more than 16 bits; write mode=None."
        )
    return array.astype(np.uint16)


def array_to_pil(array: np.ndarray) -> Image.Image:
    """An array (H, W) or (H, W, C) as a PIL image; floats lie in [0, 1], are clamped and rounded.

    Takes negative strides, one channel as (H, W, 1), bool, uint8 and 16-bit grey. `array.astype(np.uint8)` of such
    floats would give a black picture.

    >>> import numpy as np
    >>> array_to_pil(np.array([[0.9, 2.0]])).getpixel((0, 0))
    230
    """
    import numpy as np
    from PIL import Image

    _wants.kind("array_to_pil", np.ndarray, "a NumPy array", array=array)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (2, 3, 4)) or 0 in array.shape:
        raise ValueError(
            f"array_to_pil: the array has shape {array.shape}; it must be (H, W) or (H, W, C) with C in 1, 2, 3, 4."
        )
    if np.issubdtype(array.dtype, np.floating):
        array = (np.nan_to_num(np.clip(array, 0.0, 1.0), nan=0.0) * 255.0).round().astype(np.uint8)
    elif array.dtype == np.bool_:
        array = array.astype(np.uint8) * 255
    elif array.dtype != np.uint8:
        array = _narrow(array)
    return Image.fromarray(np.ascontiguousarray(array))


def _narrow(array: np.ndarray) -> np.ndarray:
    """Wider integers as uint8 where they fit, as uint16 for one grey channel, else an error instead of a wrap."""
    import numpy as np

    low, high = int(array.min()), int(array.max())
    if low >= 0 and array.ndim == 2 and high <= 65535 and (array.dtype == np.uint16 or high > 255):
        return array.astype(np.uint16)
    if low < 0 or high > 255:
        raise ValueError(
            f"array_to_pil: the array is {array.dtype} with values from {low} to {high}; pictures hold 0 to 255 "
            "(grey ones up to 65535)."
        )
    return array.astype(np.uint8)
