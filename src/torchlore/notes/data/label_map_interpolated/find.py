"""The rule of label-map-interpolated."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, project, scopes, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_SMOOTH = ("bilinear", "bicubic", "linear", "trilinear", "area")
_WHOLE = ("long", "int")  # bytes are pictures
_MASK = regex(r"^(?:.*_)?(?:masks?|labels?_?maps?|seg_?maps?|segmentation|seg_?masks?|annotation)$")
_MATTE = regex(
    r"matt(?:e|ing)|trimap", re.IGNORECASE
)  # how much of a pixel is foreground: a picture, no numbers of classes
WORDS = ("interpolate|resize", "bilinear|bicubic|linear|trilinear|area|resize")


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.nn.functional.interpolate"):
        if tree.literal(tree.argument(call, 3, "mode")) in _SMOOTH and _cast_to_whole(source, call):
            yield source.hit(
                call, 'interpolated class numbers are other classes: resize a label map with `mode="nearest"`'
            )
        elif tree.literal(tree.argument(call, 3, "mode")) in _SMOOTH:
            for used in _by_helper(source, call):
                told = f"`{source.code(used.func)}` interpolates (line {call.lineno}), and interpolated class numbers are other classes"
                yield source.hit(used, f'{told}: resize a label map with `mode="nearest"`')
    for call in source.calls("torchvision.transforms.functional.resize", "torchvision.transforms.v2.functional.resize"):
        if (
            tree.lacks(call, 2, "interpolation")
            and tree.lacks(call, None, "mode")
            and call.args
            and _mask(source, call)
        ):
            message = "`resize` interpolates by default, which makes new classes of a mask: add `interpolation=InterpolationMode.NEAREST`"
            yield source.hit(call, message)
        if call.args and _smooth(source, tree.argument(call, 2, "interpolation")) and _whole_mask(source, call):
            told = "interpolated class numbers are other classes: resize a mask with `InterpolationMode.NEAREST`"
            yield source.hit(call, told)
    for call in source.calls("cv2.resize"):
        if tree.lacks(call, 5, "interpolation") and call.args and _mask(source, call):
            yield source.hit(
                call, "`cv2.resize` interpolates by default: add `interpolation=cv2.INTER_NEAREST` for a mask"
            )


def _by_helper(source: Source, call: ast.Call) -> list[ast.Call]:
    """The calls of the function that gives back what is interpolated, where they become integers."""
    up = source.parents[call]
    while isinstance(up, ast.Subscript | ast.Attribute) or (
        isinstance(up, ast.Call) and isinstance(up.func, ast.Attribute)
    ):
        if isinstance(up, ast.Attribute) and up.attr not in ("squeeze", "view", "reshape"):
            return []
        up = source.parents[up]
    home = tree.function(source, call)
    if not isinstance(up, ast.Return) or home is None:
        return []
    found = calls.callers(project.as_function(source, home))
    return [one for at, one, _ in found if at is source and _cast_to_whole(source, one)]


def _mask(source: Source, call: ast.Call) -> bool:
    """A dataset's own mask, to go by its name: predicted masks are often probabilities, which may be interpolated."""
    home = tree.class_of(source, call)
    loads = (
        home is not None
        and not _MATTE.search(source.code(home))
        and any(isinstance(one, ast.FunctionDef) and one.name == "__getitem__" for one in home.body)
    )
    return loads and bool(_MASK.match(tree.dotted(call.args[0]).rpartition(".")[2].lower()))


def _smooth(source: Source, way: ast.expr | None) -> bool:
    return way is not None and source.code(way).rpartition(".")[2] in ("BILINEAR", "BICUBIC", "LANCZOS")


def _whole_mask(source: Source, call: ast.Call) -> bool:
    """A dataset's mask, or one that the same function makes whole numbers of."""
    home, name = tree.function(source, call), tree.dotted(call.args[0]).rpartition(".")[2].lower()
    whole = home is not None and _MASK.match(name) is not None and ".long()" in source.code(home)
    return whole or _mask(source, call)


def _cast_to_whole(source: Source, node: ast.AST) -> bool:
    """Whether the result becomes integers: `.long()`, `.to(torch.int64)`, there or where its name is next used."""
    up = source.parents[node]
    if isinstance(up, ast.Subscript) and up.value is node:
        return _cast_to_whole(source, up)
    if isinstance(up, ast.Attribute):
        call = source.parents[up]
        if not isinstance(call, ast.Call) or call.func is not up:
            return False
        if up.attr in _WHOLE or (up.attr in ("to", "type") and _integer(source, call)):
            return True
        return up.attr in ("squeeze", "view", "reshape", "contiguous") and _cast_to_whole(source, call)
    if isinstance(up, ast.Assign) and isinstance(up.targets[0], ast.Name):
        uses = [one for one in source.all(ast.Name) if one.id == up.targets[0].id and isinstance(one.ctx, ast.Load)]
        reached = [one for one in uses if [b.statement for b in scopes.reaching(source, one)] == [up]]
        return bool(reached) and all(_cast_to_whole(source, one) for one in reached)
    return False


def _integer(source: Source, call: ast.Call) -> bool:
    kind = source.name(call.args[0]) if len(call.args) == 1 else ""
    return kind in ("torch.long", "torch.int64", "torch.int32", "torch.uint8", "torch.int", "torch.LongTensor")
