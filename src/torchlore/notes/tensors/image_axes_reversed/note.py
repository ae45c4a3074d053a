"""permute(2, 1, 0) turns an image (H, W, C) into (C, W, H): the picture lies on its side.

The channels come first, so the network runs, and square crops hide that height and width are swapped. Boxes, masks and
keypoints no longer fit their images; a pretrained network sees a mirrored and turned world. `transpose(0, 2)` on one
image, `transpose(1, 3)` and `permute(0, 3, 2, 1)` on a batch do the same, and so does `array.T`.

Only the channels move: `image.permute(2, 0, 1)` for one image, `batch.permute(0, 3, 1, 2)` for many, and back
`permute(1, 2, 0)`. `image.movedim(-1, -3)` is right for both. `torchlore.recipes.tensors.from_pil` reads a picture with
the axes in place.
"""

import ast
import re
from collections.abc import Iterator
from typing import Any

from torchlore.check import follow, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/developmentseed/tensorflow-eo-training/issues/11",)
TORCH = "2.11, 2.15"
NEEDS = ("numpy", "PIL")
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    assert good["shape"] == (3, 4, 6)
    assert bad["shape"] == (3, 6, 4)
    assert good["corner"] == 1.0
    assert bad["corner"] == 0.0  # the mark in the upper right corner is elsewhere
    batch = torch.rand(2, 4, 6, 3, device=device)
    assert torch.equal(batch.movedim(-1, -3), batch.permute(0, 3, 1, 2))
    assert not torch.equal(batch.transpose(1, 3)[:, :, :4, :4], batch.permute(0, 3, 1, 2)[:, :, :4, :4])


_IMAGE = re.compile(r"(^|_)(img|image|frame|photo|picture|pic)s?($|_|\d)", re.IGNORECASE)
_READ = {"cv2.imread", "PIL.Image.open", "PIL.Image.new", "imageio.imread", "imageio.v2.imread", "skimage.io.imread",
         "matplotlib.pyplot.imread"}  # fmt: skip
_THROUGH = {"torch.from_numpy", "torch.as_tensor", "torch.tensor", "numpy.array", "numpy.asarray", "numpy.float32"}
_KEEPS = {"float", "copy", "astype", "to", "clone", "contiguous", "convert"}
_ORDERS = {"permute": [(2, 1, 0), (0, 3, 2, 1)], "transpose": [(0, 2), (2, 0), (1, 3), (3, 1), (2, 1, 0), (0, 3, 2, 1)]}
_RIGHT = {(False, False): "2, 0, 1", (True, False): "0, 3, 1, 2", (False, True): "1, 2, 0", (True, True): "0, 2, 3, 1"}
_VOLUMES = ("nibabel", "SimpleITK", "pydicom", "monai", "tifffile", "h5py")
WORDS = ("permute|transpose",)


def find(source: Source) -> Iterator[Hit]:
    calls = list(source.methods("permute", "transpose"))
    if not calls or any(name in source.text for name in _VOLUMES):
        return
    for call in calls:
        function = source.name(call.func) in {"numpy.transpose", "torch.transpose", "torch.permute"}
        image = call.args[0] if function and call.args else tree.receiver(call)
        dims = call.args[1:] if function else call.args
        parts = dims[0].elts if len(dims) == 1 and isinstance(dims[0], ast.Tuple | ast.List) else dims
        order = tuple(tree.literal(part) for part in parts)
        if order not in _ORDERS[follow.method(call)] or not _is_image(source, image) or _swapped_again(source, call):
            continue
        held = tree.statement(source, call)
        if isinstance(held, ast.Assign) and isinstance(held.targets[0], ast.Subscript):
            continue  # written into something with axes of its own
        right = _RIGHT[3 in order, _to_show(source, call)]
        told = f"this swaps height and width of `{source.code(image)}` as well: only the channels move"
        named = isinstance(follow.followed(source, image), ast.Name | ast.Attribute)
        sure = "hint" if named else None  # by its name alone it may have other axes
        yield source.hit(call, f"{told}, `permute({right})`", severity=sure)


def _is_image(source: Source, node: ast.expr, hops: int = 6) -> bool:
    """Something read from a picture file, or named so."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    if name and _IMAGE.search(name) and values.maybe(source, node, "tensor", "ndarray"):
        return True
    inner = follow.binding(source, node)
    if isinstance(node, ast.Call) and source.name(node.func) in _READ:
        return True
    if isinstance(node, ast.Call) and source.name(node.func) in _THROUGH and node.args:
        inner = node.args[0]
    elif isinstance(node, ast.Call) and follow.method(node) in _KEEPS:
        inner = tree.receiver(node)
    return inner is not None and hops > 0 and _is_image(source, inner, hops - 1)


def _to_show(source: Source, call: ast.Call) -> bool:
    """Whether it goes from the tensor to a picture: `.cpu().numpy()`, `imshow(...)`."""
    held, shown = tree.statement(source, call), {"imshow", "imsave", "fromarray", "imwrite"}
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
    later = (one for one in source.methods(*shown) if held.lineno < one.lineno < held.lineno + 9)
    ups = (follow.method(up) for up in tree.ancestors(source, call) if isinstance(up, ast.Call))
    kept = any(tree.dotted(arg) == name != "" for one in later for arg in one.args)
    return kept or any(one in {"numpy", "cpu", *shown} for one in ups)


def _swapped_again(source: Source, call: ast.Call) -> bool:
    """`x.transpose(0, 2).transpose(1, 2)` is right in the end."""
    up = source.parents[call]
    return isinstance(up, ast.Attribute) and up.attr in {"permute", "transpose", "swapaxes", "flip"}
