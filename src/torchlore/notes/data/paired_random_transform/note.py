"""A random transform called on the image and again on its mask draws twice: they no longer fit.

`image = self.transform(image)` and `mask = self.transform(mask)` look symmetric, but each call draws its own flip, crop
and rotation. Half of the masks are then flipped against their image, and the model learns an average of the two.

Transform both in one call, with torchvision's v2: wrap the mask as `tv_tensors.Mask` and write
`image, mask = self.transform(image, mask)`; the draw is shared, and colours are left alone on the mask. Or draw once and
use the functional forms.
"""

import ast
from collections.abc import Iterator

from torchlore.check import follow, identity, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/thuanz123/realfill/issues/4",)
TORCH = "2.11, 2.15"
NEEDS = ("torchvision",)
SEVERITY = "error"
_MASK = regex(
    r"(^|_)(masks?|seg|segm|segmentation|gt|ground_?truth|annotation|depth|flow|label|lbl|target|weightings?|weight_?map|heat_?map|alpha|trimap)(_|$)"
)
_DRAWS = regex(
    r"^torchvision\.transforms\.(v2\.)?(Random(?!Apply|Order|Choice)\w*(Flip|Crop|Rotation|Affine|Perspective|ResizedCrop|IoUCrop)|ElasticTransform)$"
)


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["misaligned"] > 20
    assert good["misaligned"] == 0


def find(source: Source) -> Iterator[Hit]:
    if "transforms" not in source.text:
        return
    calls = [
        call for call in source.all(ast.Call) if len(call.args) == 1 and isinstance(call.func, ast.Name | ast.Attribute)
    ]
    for mask in calls:
        if not _MASK.search(_name(mask.args[0])) or not _is_random(source, mask.func):
            continue
        owner, home = identity.identity(source, mask.func), tree.function(source, mask)
        for image in calls:
            other = _name(image.args[0])
            same = tree.function(source, image) is home and identity.identity(source, image.func) == owner is not None
            if image is not mask and same and other and not _MASK.search(other) and not _seeded(source, mask):
                yield source.hit(
                    mask,
                    f"`{source.code(mask.func)}` draws anew for `{_name(mask.args[0])}` and again for `{other}`, so they no "
                    "longer fit: transform both in one call of a v2 transform",
                )
                break


def _name(node: ast.expr) -> str:
    return tree.dotted(node).rpartition(".")[2].lower()


def _is_random(source: Source, func: ast.expr) -> bool:
    """Whether every transform it may be moves pixels at random."""
    found = [one for one in source.values(func) if one.kind != "none"]  # `transform if train else None`
    calls = [
        one.node for one in found if one.kind == "transform" and one.source is source and isinstance(one.node, ast.Call)
    ]
    return bool(calls) and len(calls) == len(found) and all(_draws(source, one) for one in calls)


def _draws(source: Source, call: ast.Call) -> bool:
    if _DRAWS.match(source.name(call.func)):
        return True
    parts = follow.followed(source, call.args[0]) if call.args else None
    inner = parts.elts if isinstance(parts, ast.List | ast.Tuple) else []
    return any(isinstance(one, ast.Call) and _draws(source, one) for one in inner)


def _seeded(source: Source, node: ast.AST) -> bool:
    """Whether the same seed is set before each, an old way to share the draw."""
    home = tree.function(source, node)
    return any(
        tree.function(source, one) is home for one in source.methods("manual_seed", "seed", "set_rng_state", "setstate")
    )
