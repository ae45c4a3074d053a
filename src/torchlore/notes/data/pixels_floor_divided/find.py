"""The rule of pixels-floor-divided."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, tree
from torchlore.check.source import Hit, Source

WORDS = ("torch|numpy", "255")
_PIXELS = re.compile(
    r"(^|_)(imgs?|images?|pixels?|pictures?|photos?|frames?|inputs?|x|x_train|x_test|batch_x)$", re.IGNORECASE
)
_MOVES = {"to", "cuda", "float", "numpy", "copy", "clone"}


def find(source: Source) -> Iterator[Hit]:
    for node in source.all(ast.BinOp):
        if _by_255(node.op, node.right) and _is_picture(node.left):
            fixed = source.code(node).replace("//", "/", 1)
            yield source.hit(node, _told(source, node.left, fixed), edits.replace(source, node, fixed))
    for change in source.all(ast.AugAssign):
        if _by_255(change.op, change.value) and _is_picture(change.target):
            name = source.code(change.target)
            yield source.hit(change, _told(source, change.target, f"{name} = {name} / 255"))


def _by_255(op: ast.operator, by: ast.expr) -> bool:
    return isinstance(op, ast.FloorDiv) and tree.literal(by) == 255


def _told(source: Source, pixels: ast.expr, fixed: str) -> str:
    whole = f"`//` gives whole numbers, and of `{source.code(pixels)}` all but the white pixels become 0"
    return f"{whole}: write `{fixed}`"


def _is_picture(node: ast.expr) -> bool:
    """`image`, `batch["image"]` and `inputs.to(device)`."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MOVES:
        node = node.func.value
    if isinstance(node, ast.Subscript):
        key = tree.literal(node.slice)
        return isinstance(key, str) and _PIXELS.search(key) is not None
    return (
        isinstance(node, ast.Name | ast.Attribute) and _PIXELS.search(tree.dotted(node).rpartition(".")[2]) is not None
    )
