"""Odd pictures decoded right, or refused with a reason. Users import this from `data`."""

from __future__ import annotations

import io
import os
import struct
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from torchlore.recipes import _wants

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from PIL import Image

MOST_PIXELS = 89_478_485  # a quarter of a gigabyte of RGB; PIL begins to warn there
OTHER_FRAMES = set(range(0xC1, 0xD0)) - {0xC4, 0xC8, 0xCC}  # of a JPEG: progressive, lossless, arithmetic
DEEP = ("I;16", "I;16L", "I;16B", "I;16N", "I")
SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm", ".jp2", ".avif")


class BrokenImageError(ValueError):
    """A file that gives no trustworthy picture; the text names the file and the reason."""


def decode_image(
    source: str | os.PathLike[str] | bytes, *, most_pixels: int = MOST_PIXELS, background: int = 255
) -> torch.Tensor:
    """Read any picture as uint8 RGB of shape (3, H, W).

    It is turned as its EXIF tag says; grey, palette, CMYK and 16-bit pictures become true 8-bit RGB; transparency is
    laid over the background instead of showing what hides below it; of an animation the first frame is taken. A
    plain JPEG goes through simplejpeg where it is installed, or through the decoder of an older torchvision.

    Args:
        source: A path, or the bytes of a file.
        most_pixels: A larger picture is refused before it is decoded.
        background: The grey value behind transparency.

    Returns:
        A tensor whose memory is channels-last.

    >>> buffer = io.BytesIO(); from PIL import Image
    >>> Image.new("L", (4, 2), 7).save(buffer, "PNG")
    >>> decode_image(buffer.getvalue())[:, 0, 0]
    tensor([7, 7, 7], dtype=torch.uint8)
    """
    if not isinstance(source, (bytes, str, Path)):  # asked first: this runs for every picture
        _wants.kind("decode_image", (bytes, str, os.PathLike), "a path, or the bytes of a file", source=source)
    if not (isinstance(most_pixels, int) and most_pixels > 0 and isinstance(background, int) and 0 <= background < 256):
        _wants.whole("decode_image", 1, most_pixels=most_pixels)
        _wants.whole("decode_image", 0, 255, background=background)
    name = "the picture" if isinstance(source, bytes) else str(source)
    try:
        data = source if isinstance(source, bytes) else Path(source).read_bytes()
    except OSError as error:
        raise BrokenImageError(f"{name} cannot be read: {error.strerror}") from error
    if not data:
        raise BrokenImageError(f"{name} is empty")
    array = _fast_jpeg(data, most_pixels)
    if array is None:
        array = _slow(data, name, most_pixels, background)
    return torch.from_numpy(array).permute(2, 0, 1)


def _fast_jpeg(data: bytes, most_pixels: int) -> np.ndarray | None:
    """Decode a JPEG that needs nothing but decoding; None for all others, and for whatever is wrong."""
    if data[:3] != b"\xff\xd8\xff" or b"Exif\x00\x00" in data[:65536]:
        return None
    try:
        import simplejpeg
    except ImportError:
        return _torchvision_jpeg(data, most_pixels)
    try:
        height, width, colours, _ = simplejpeg.decode_jpeg_header(data)
        if colours == "CMYK" or height * width > most_pixels:
            return None
        array: np.ndarray = simplejpeg.decode_jpeg(data, "RGB")
    except ValueError:  # it is stricter than PIL, which has the last word
        return None
    return array


@cache
def _torchvision_decoder() -> Callable[[torch.Tensor], torch.Tensor] | None:
    """Torchvision's decoder for JPEG in RGB; None where there is none, or from 0.29 on, which warns at each call."""
    try:
        import torchvision
        from torchvision.io import ImageReadMode, decode_jpeg
    except (ImportError, RuntimeError):  # a torchvision that does not fit torch raises a RuntimeError
        return None
    if tuple(int(part) for part in torchvision.__version__.split(".")[:2]) >= (0, 29):
        return None
    return partial(decode_jpeg, mode=ImageReadMode.RGB)


def _torchvision_jpeg(data: bytes, most_pixels: int) -> np.ndarray | None:
    size, decoder = jpeg_size(data), _torchvision_decoder()
    if size is None or decoder is None or size[0] * size[1] > most_pixels:
        return None
    try:
        found = decoder(torch.frombuffer(bytearray(data), dtype=torch.uint8))
    except RuntimeError:  # PIL has the last word, and the better words
        return None
    return found.permute(1, 2, 0).numpy()


def jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Height and width of a whole baseline JPEG in YCbCr that nothing turns; None for every other file.

    >>> jpeg_size(b"hello") is None
    True
    """
    if data[:2] != b"\xff\xd8" or data[-2:] != b"\xff\xd9":
        return None
    at = 2
    while at + 19 <= len(data) and data[at] == 0xFF:
        kind, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        turned = kind == 0xE1 and data[at + 4 : at + 8] == b"Exif"
        if turned or kind in (0xEE, 0xDA) or kind in OTHER_FRAMES:  # 0xEE: Adobe's colours
            return None
        if kind == 0xC0:
            bits, height, width, channels = struct.unpack_from(">BHHB", data, at + 4)
            colours = data[at + 10], data[at + 13], data[at + 16]
            return (height, width) if bits == 8 and channels == 3 and colours == (1, 2, 3) and height else None
        at += 2 + length
    return None


def _slow(data: bytes, name: str, most_pixels: int, background: int) -> np.ndarray:
    import numpy as np
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as image:
            _check_size(image, name, most_pixels)
            image.load()
            picture = ImageOps.exif_transpose(image)
            return np.array(_to_rgb(picture, name, background))
    except BrokenImageError:
        raise
    except UnidentifiedImageError as error:
        raise BrokenImageError(f"{name} is not a picture, or of a kind that Pillow does not read") from error
    except Exception as error:  # a damaged file raises whatever its decoder happens to do
        raise BrokenImageError(f"{name} is not a whole picture: {error or type(error).__name__}") from error


def _check_size(image: Image.Image, name: str, most_pixels: int) -> None:
    if image.width * image.height > most_pixels:
        raise BrokenImageError(f"{name} has {image.width} x {image.height} pixels, more than {most_pixels}")


def _to_rgb(image: Image.Image, name: str, background: int) -> Image.Image:
    from PIL import Image

    if image.mode in DEEP:
        return _from_deep(image, name)
    if image.mode == "F":
        raise BrokenImageError(f"{name} holds floating-point pixels, whose range nothing tells; convert it first")
    if image.has_transparency_data:
        top = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", top.size, (background,) * 3 + (255,)), top).convert("RGB")
    return image.convert("RGB")


def _from_deep(image: Image.Image, name: str) -> Image.Image:
    """16 bits to 8 by dropping the low byte, where PIL's own conversion turns everything bright into white."""
    import numpy as np
    from PIL import Image

    deep = np.asarray(image).astype(np.int64)
    if deep.min(initial=0) < 0 or deep.max(initial=0) > 65535:
        raise BrokenImageError(f"{name} holds numbers from {deep.min()} to {deep.max()}, which are no 16-bit picture")
    return Image.fromarray((deep >> 8).astype(np.uint8)).convert("RGB")
