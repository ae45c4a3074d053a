"""The rule of float-image-cast-to-bytes."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, iteration, scopes, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

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
        unit = isinstance(node.op, ast.Div) and (tree.literal(node.right) == 255 or _is_range(node.right))
        return unit and not _is_scaled(node.left)
    if not isinstance(node, ast.Call) or source.name(node.func) in _UNIT:
        return isinstance(node, ast.Call)
    made = values.state(source, node) if values.sure(source, node.func, "module") else None
    if made is not None and made.state == "sigmoid":
        return True
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if method in {"clamp", "clip"}:
        return [tree.literal(arg) for arg in node.args] == [0, 1]
    return method in {"sigmoid", "softmax"} or (method in _THROUGH and _unit(source, tree.receiver(node)))


def _is_scaled(node: ast.expr) -> bool:
    """`255 * (x - low)`, before it is divided by the range."""
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) else ()
    return any(isinstance(tree.literal(side), int | float) for side in sides)


def _is_range(node: ast.expr) -> bool:
    """`x.max() - x.min()`."""
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) else ()
    return [follow.method(side) for side in sides] == ["max", "min"]
