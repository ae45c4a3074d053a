"""An image file is not always RGB: convert it before it becomes a tensor.

`Image.open` keeps what the file holds. A grey image gives one channel, a PNG with transparency four, a palette image
one channel of colour *numbers* that look like grey but mean nothing, a 16-bit image integers that are not divided by
anything. `to_tensor` takes them all in silence; the three-channel network then fails on the first such file, or, for
the palette, learns from nonsense. Neither looks at the EXIF tag that says the picture lies on its side.

Write `Image.open(path).convert("RGB")` (or `"L"` where you want grey) every time, and `ImageOps.exif_transpose(image)`
first for photographs. Then `v2.ToImage()` and `v2.ToDtype(torch.float32, scale=True)`.
`torchlore.recipes.tensors.from_pil(image)` does all of it.
"""

import ast
import re
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, follow, tree, values
from torchlore.check.source import Hit, Source

ROWS = ("tensor-from-pil",)
SOURCES = ("003:95-98",)
TORCH = "2.11, 2.15"
NEEDS = ("numpy", "PIL", "torchvision")
SEVERITY = "warning"


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


_FUNCTIONS = {f"torchvision.transforms.{room}{name}" for room in ("functional.", "v2.functional.")
              for name in ("to_tensor", "pil_to_tensor", "to_image")}  # fmt: skip
_MAKERS = {
    f"torchvision.transforms.{room}{name}" for room in ("", "v2.") for name in ("ToTensor", "PILToTensor", "ToImage")
}
_OTHER = re.compile(r"mask|label|seg|target|gt|palette|depth|annot|grey|gray|alpha", re.IGNORECASE)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("PIL.Image.open"):
        drawn = call.args and re.match(r"^(buf|buffer|io|stream)\w*$", source.code(call.args[0]))
        if follow.in_test(source, call) or drawn:
            continue  # reads what it wrote
        if _becomes_tensor(source, call) and not _OTHER.search(source.code(tree.statement(source, call))):
            code = source.code(call)
            message = f'the file may be grey, RGBA, 16-bit or a palette: write `{code}.convert("RGB")`'
            known = any(isinstance(one, ast.Constant) for one in _path_parts(call))  # the author knows this one file
            edit = edits.append(source, call, '.convert("RGB")')
            yield source.hit(call, message, edit, safe=False, severity="hint" if known else None)


def _path_parts(opened: ast.Call) -> list[ast.expr]:
    """The last part of the path that is opened: `"a.png"`, of `join(folder, "a.png")` and of `folder / "a.png"` too."""
    path = opened.args[0] if opened.args else None
    if isinstance(path, ast.Call):
        return path.args[-1:]
    return [path.right] if isinstance(path, ast.BinOp) else [path] if path is not None else []


def _becomes_tensor(source: Source, opened: ast.Call) -> bool:
    """Whether the image is made a tensor as it was opened, directly or through one name."""
    up = source.parents[opened]
    if isinstance(up, ast.Call):
        return opened in up.args and _makes_tensor(source, up)
    target = up.optional_vars if isinstance(up, ast.withitem) else up.targets[0] if isinstance(up, ast.Assign) else None
    if not isinstance(target, ast.Name):
        return False
    home = tree.function(source, opened) or source.tree
    names = [n for n in tree.body_nodes(home) if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    ups = [source.parents[name] for name in names]
    if any(isinstance(use, ast.Attribute) for use in ups):
        return False  # something else is done with it first
    return any(isinstance(use, ast.Call) and _makes_tensor(source, use) for use in ups)


def _makes_tensor(source: Source, call: ast.Call) -> bool:
    made = values.values(source, call.func)
    return source.name(call.func) in _FUNCTIONS or (bool(made) and all(value.name in _MAKERS for value in made))
