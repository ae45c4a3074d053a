"""The rule of image-not-converted-to-rgb."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, follow, scopes, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_FUNCTIONS = {f"torchvision.transforms.{room}{name}" for room in ("functional.", "v2.functional.")
              for name in ("to_tensor", "pil_to_tensor", "to_image")}  # fmt: skip
_MAKERS = {
    f"torchvision.transforms.{room}{name}" for room in ("", "v2.") for name in ("ToTensor", "PILToTensor", "ToImage")
}
_OTHER = regex(r"mask|label|seg|target|gt|palette|depth|annot|grey|gray|alpha", re.IGNORECASE)

_MEAN = (0.485, 0.456, 0.406)  # of red, green and blue
_COMPOSED = ("torchvision.transforms.Compose", "torchvision.transforms.v2.Compose", "albumentations.Compose")
_KEPT = ("cv2.resize", "cv2.flip", "cv2.rotate", "cv2.GaussianBlur", "PIL.Image.fromarray")
_TURNED = regex(r"bgr|rgb|cvtColor|::-1|2, ?1, ?0|\.flip\(|split\(|merge\(", re.IGNORECASE)

WORDS = ("Image|imread", "open|Normalize")


def find(source: Source) -> Iterator[Hit]:
    yield from _blue_first(source)
    for call in source.calls("PIL.Image.open"):
        drawn = call.args and re.match(r"^(buf|buffer|io|stream)\w*$", source.code(call.args[0]))
        if follow.in_test(source, call) or drawn:
            continue  # reads what it wrote
        if _becomes_tensor(source, call) and not _OTHER.search(source.code(tree.statement(source, call))):
            code = source.code(call)
            message = f'the file may be grey, RGBA, 16-bit or a palette: write `{code}.convert("RGB")`'
            yield source.hit(call, message, edits.append(source, call, '.convert("RGB")'), safe=False)


def _blue_first(source: Source) -> Iterator[Hit]:
    """`transform(cv2.imread(path))`, where the transform takes ImageNet's mean of red from what OpenCV read as blue."""
    for home in {tree.function(source, one) or source.tree for one in source.calls("cv2.imread")}:
        for call in tree.under(source, home, ast.Call) if not _TURNED.search(source.code(home)) else ():
            given = [*call.args[:1], *(one.value for one in call.keywords if one.arg == "image")]
            if len(given) == 1 and _was_read(source, given[0], 4) and _for_imagenet(source, call.func):
                code = source.code(given[0])
                told = "OpenCV reads blue first, and the transform has the means of red, green and blue"
                yield source.hit(call, f"{told}: give it `cv2.cvtColor({code}, cv2.COLOR_BGR2RGB)`", severity="warning")


def _was_read(source: Source, node: ast.expr, hops: int) -> bool:
    """A picture as `cv2.imread` gives it, also of another size."""
    if isinstance(node, ast.Call):
        name = source.name(node.func)
        whole = name == "cv2.imread" and (len(node.args) == 1 or source.name(node.args[1]) == "cv2.IMREAD_COLOR")
        return (whole and not node.keywords) or (
            name in _KEPT and bool(node.args) and _was_read(source, node.args[0], hops)
        )
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) and hops else []
    values_ = [one.value for one in bound if one.how == "assign" and not one.path]
    return (
        bool(bound)
        and len(values_) == len(bound)
        and all(one is not None and _was_read(source, one, hops - 1) for one in values_)
    )


def _for_imagenet(source: Source, transform: ast.expr) -> bool:
    """Whether every transform this may be ends in ImageNet's `Normalize`."""
    found = source.values(transform)
    return bool(found) and all(
        one.name in _COMPOSED and one.source is not None and _normalises(one.source, one.node) for one in found
    )


def _normalises(source: Source, made: ast.AST | None) -> bool:
    for call in tree.under(source, made, ast.Call) if made is not None else ():
        if source.name(call.func).rpartition(".")[2] == "Normalize":
            told = tree.literal(tree.argument(call, 0, "mean"))
            default = (
                source.name(call.func).startswith("albumentations.") and not call.args and tree.lacks(call, 0, "mean")
            )
            return default or (isinstance(told, list | tuple) and tuple(told) == _MEAN)
    return False


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
