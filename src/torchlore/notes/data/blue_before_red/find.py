"""The rule of blue-before-red."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, scopes, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

WORDS = ("cv2", "imread", "torch|torchvision|albumentations")
_MEAN = (0.485, 0.456, 0.406)  # of red, green and blue
_COMPOSED = ("torchvision.transforms.Compose", "torchvision.transforms.v2.Compose", "albumentations.Compose")
_KEPT = ("cv2.resize", "cv2.flip", "cv2.rotate", "cv2.GaussianBlur", "PIL.Image.fromarray")
_RGB = regex(r"0\.485\s*,|IMAGENET_(DEFAULT_)?MEAN|weights=[\"']?(DEFAULT|IMAGENET|\w+_Weights)|pretrained=True")
_TURNED = regex(r"bgr|rgb|cvtColor|::\s*-1|2, ?1, ?0|\.flip\(|split\(|merge\(|channel_order", flags=re.IGNORECASE)
_GOES_ON = regex(
    r"transform|(^|\.)(tf|tfm|tfms|aug\w*)$|from_numpy|ToTensor|as_tensor|torch\.tensor|normal|preprocess",
    flags=re.IGNORECASE,
)
_OTHERS = regex(r"mask|label|seg|depth|target|gt|annot", flags=re.IGNORECASE)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("cv2.imread"):
        home = tree.function(source, call) or source.tree
        other = _OTHERS.search(source.code(tree.statement(source, call))) or follow.in_test(source, call)
        if other or not _is_coloured(source, call) or _TURNED.search(source.code(home)):
            continue
        of_rgb = _RGB.search(source.text) and not _TURNED.search(source.text)
        if _is_normalised(source, home) or (of_rgb and _goes_on(source, call, home)):
            told = "OpenCV reads blue first, and what follows has the means and the weights of red, green and blue"
            yield source.hit(call, f"{told}: write `cv2.cvtColor({source.code(call)}, cv2.COLOR_BGR2RGB)`")


def _is_coloured(source: Source, call: ast.Call) -> bool:
    flags = tree.argument(call, 1, "flags")
    return flags is None or source.name(flags) == "cv2.IMREAD_COLOR" or tree.literal(flags) == 1


def _goes_on(source: Source, call: ast.Call, home: ast.AST) -> bool:
    """Whether the picture is given under its name to what makes a tensor of it."""
    held = source.parents[call]
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
    calls = (one for one in tree.under(source, home, ast.Call) if _GOES_ON.search(source.code(one.func)))
    given = (part for one in calls for part in (*one.args, *(word.value for word in one.keywords)))
    return bool(name) and any(tree.dotted(part) == name for part in given)


def _is_normalised(source: Source, home: ast.AST) -> bool:
    """`transform(cv2.imread(path))`, where the transform takes off ImageNet's mean."""
    for call in tree.under(source, home, ast.Call):
        given = [*call.args[:1], *(one.value for one in call.keywords if one.arg == "image")]
        if len(given) == 1 and _was_read(source, given[0], 4):
            found = source.values(call.func)
            known = [one for one in found if one.name in _COMPOSED and one.source is not None]
            if known and len(known) == len(found) and all(_takes_mean(one.source or source, one.node) for one in known):
                return True
    return False


def _was_read(source: Source, node: ast.expr, hops: int) -> bool:
    """A picture as `cv2.imread` gives it, also of another size."""
    if isinstance(node, ast.Call):
        name = source.name(node.func)
        kept = name in _KEPT and bool(node.args) and _was_read(source, node.args[0], hops)
        return kept or (name == "cv2.imread" and _is_coloured(source, node))
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) and hops else []
    made = [one.value for one in bound if one.how == "assign" and not one.path and one.value is not None]
    return bool(bound) and len(made) == len(bound) and all(_was_read(source, one, hops - 1) for one in made)


def _takes_mean(source: Source, made: ast.AST | None) -> bool:
    """Whether a chain of transforms has ImageNet's `Normalize`."""
    for call in tree.under(source, made, ast.Call) if made is not None else ():
        name = source.name(call.func)
        if name.rpartition(".")[2] == "Normalize":
            mean = tree.literal(tree.argument(call, 0, "mean"))
            default = name.startswith("albumentations.") and tree.lacks(call, 0, "mean")
            return default or (isinstance(mean, list | tuple) and tuple(mean) == _MEAN)
    return False
