"""The rule of image-not-converted-to-rgb."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, follow, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_FUNCTIONS = {f"torchvision.transforms.{room}{name}" for room in ("functional.", "v2.functional.")
              for name in ("to_tensor", "pil_to_tensor", "to_image")}  # fmt: skip
_MAKERS = {
    f"torchvision.transforms.{room}{name}" for room in ("", "v2.") for name in ("ToTensor", "PILToTensor", "ToImage")
}
_OTHER = regex(r"mask|label|seg|target|gt|palette|depth|annot|grey|gray|alpha", re.IGNORECASE)

WORDS = ("PIL", "Image", "open")


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("PIL.Image.open"):
        drawn = call.args and re.match(r"^(buf|buffer|io|stream)\w*$", source.code(call.args[0]))
        if follow.in_test(source, call) or drawn:
            continue  # reads what it wrote
        if _becomes_tensor(source, call) and not _OTHER.search(source.code(tree.statement(source, call))):
            code = source.code(call)
            message = f'the file may be grey, RGBA, 16-bit or a palette: write `{code}.convert("RGB")`'
            yield source.hit(call, message, edits.append(source, call, '.convert("RGB")'), safe=False)


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
