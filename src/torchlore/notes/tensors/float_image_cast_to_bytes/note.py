"""Casting a float image to bytes does not scale, and what lies outside 0 to 255 wraps round.

`array.astype(np.uint8)` on values in [0, 1] gives a black image. After `* 255` a value a hair above 1 becomes 0: white
spots turn black. `to_pil_image` multiplies and casts, but does not clamp: 1.2 comes out as 50. Clamping by hand and
calling `to_pil_image` are therefore not the same. All of them cut off instead of rounding, and all want one image
(C, H, W), not a batch.

Clamp, scale, round, cast, in that order: `(x.clamp(0, 1) * 255).round().byte()`. `torchlore.recipes.tensors.to_pil`
does it for a tensor, `array_to_pil` for an array. For a batch use `torchvision.utils.save_image` or `make_grid`, which
clamp.
"""

import ast
import re
from collections.abc import Iterator
from typing import Any

from torchlore.check import follow, iteration, scopes, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

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


_THROUGH = {"numpy", "cpu", "detach", "permute", "transpose", "squeeze", "unsqueeze", "clone", "float", "view", "reshape",
            "contiguous", "copy"}  # fmt: skip
_UNIT = {"torch.sigmoid", "torch.nn.functional.sigmoid", "torch.softmax", "torch.nn.functional.softmax", "torch.rand",
         "numpy.random.rand", "numpy.random.random", "torchvision.transforms.functional.to_tensor"}  # fmt: skip
_BYTES = {"numpy.uint8", "torch.uint8"}
_LABELS = regex(r"mask|label|seg|(^|_)gt(_|\b)|annot", re.IGNORECASE)  # 0 and 255 become 0 and 1

WORDS = ("byte|uint8",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("astype", "byte", "to", "type"):
        wanted = call.args[0] if call.args else None
        byte = isinstance(call.func, ast.Attribute) and call.func.attr == "byte"
        if byte or source.name(wanted) in _BYTES or tree.literal(wanted) == "uint8":
            picture = tree.receiver(call)
            if _unit(source, picture) and not _LABELS.search(source.code(tree.statement(source, call))):
                message = (
                    f"`{source.code(picture)}` lies in [0, 1], so this cast makes it 0 nearly everywhere: scale and round "
                    "first, `(x.clip(0, 1) * 255).round()`"
                )
                tried = re.search(r"\brand(om)?\(", source.code(picture))  # a picture to try the sizes with
                counted = re.search(
                    r"confusion_matrix|roc_auc|_score\(", source.code(tree.function(source, call) or call)
                )
                yield source.hit(call, message, severity="hint" if tried or counted else None)


def _unit(source: Source, node: ast.expr) -> bool:
    """Whether the value surely lies in [0, 1] and was not scaled."""
    node = follow.followed(source, node)
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    if len(bound) == 1 and bound[0].how == "for" and bound[0].value is not None:
        return _unit(source, iteration.unwrapped(source, bound[0].value))  # one picture of a batch
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Div) and (tree.literal(node.right) == 255 or _is_range(node.right))
    if not isinstance(node, ast.Call) or source.name(node.func) in _UNIT:
        return isinstance(node, ast.Call)
    made = values.state(source, node) if values.sure(source, node.func, "module") else None
    if made is not None and made.state == "sigmoid":
        return True
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if method in {"clamp", "clip"}:
        return [tree.literal(arg) for arg in node.args] == [0, 1]
    return method in {"sigmoid", "softmax"} or (method in _THROUGH and _unit(source, tree.receiver(node)))


def _is_range(node: ast.expr) -> bool:
    """`x.max() - x.min()`."""
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) else ()
    return [follow.method(side) for side in sides] == ["max", "min"]
