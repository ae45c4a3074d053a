"""Which pictures are bytes, 0 to 255, by the way they were made."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlore.check import calls, classes, flow, follow, project, scopes, tree

if TYPE_CHECKING:
    from torchlore.check.source import Source

_BYTE = {"torch.uint8", "numpy.uint8"}
_READ = {"cv2.imread", "torchvision.io.read_image", "torchvision.io.decode_image", "torchvision.io.decode_jpeg",
         "torchvision.io.decode_png"}  # fmt: skip
_MADE = {f"{room}.{name}" for room in ("torch", "numpy") for name in ("tensor", "array", "asarray", "as_tensor", "zeros",
         "randint", "empty", "full")} | {"numpy.random.randint"}  # fmt: skip
_WRAPS = {"torch.from_numpy", "torch.as_tensor", "torch.tensor", "torch.stack", "numpy.stack", "numpy.array", "numpy.asarray",
          "numpy.ascontiguousarray"}  # fmt: skip
_KEPT = {"cv2.cvtColor", "cv2.resize", "cv2.flip", "cv2.rotate"}  # what comes out has the type of what goes in
_SAME = {"clone", "copy", "contiguous", "to", "cuda", "cpu", "numpy", "reshape", "view", "permute", "transpose", "squeeze",
         "unsqueeze", "flatten"}  # fmt: skip
_HOPS = 6
_BYTE_MODES = {"RGB", "L", "RGBA", "YCbCr", "HSV", "CMYK"}
_PICTURE = {"convert", "resize", "crop", "rotate", "transpose", "copy"}


def is_bytes(source: Source, node: ast.expr | None, hops: int = _HOPS) -> bool:
    """Whether a picture is surely uint8: by the way it was made, on every path."""
    if node is None or not hops or isinstance(node, ast.Constant):
        return False
    if isinstance(node, ast.Subscript):
        return is_bytes(source, node.value, hops - 1)
    if isinstance(node, ast.ListComp):  # a list of pictures
        return is_bytes(source, node.elt, hops - 1)
    if isinstance(node, ast.Name):
        bound = scopes.reaching(source, node)
        return bool(bound) and all(_bound_to_bytes(source, one, hops) for one in bound)
    if isinstance(node, ast.Attribute) and tree.dotted(node) == f"self.{node.attr}":
        owner = project.enclosing_class(source, node)
        kept = classes.assigned(owner, node.attr) if owner is not None else []
        return bool(kept) and all(not one.path and is_bytes(one.source, one.value, hops - 1) for one in kept)
    return isinstance(node, ast.Call) and _gives_bytes(source, node, hops)


def _bound_to_bytes(source: Source, one: scopes.Binding, hops: int) -> bool:
    if one.how == "parameter" and isinstance(one.node, ast.arg):
        given = calls.given(source, one.node)
        return bool(given) and all(is_bytes(at, value, hops - 1) for at, value in given)
    return one.how == "assign" and is_bytes(source, _whole(one), hops - 1)


def _whole(one: scopes.Binding) -> ast.expr | None:
    """What a name is bound to, None where it is a part of something that is not written down."""
    value = scopes.part(one)
    return value if not one.path or value is not one.value else None


def _gives_bytes(source: Source, call: ast.Call, hops: int) -> bool:
    name, how = source.name(call.func), follow.method(call)
    if name in _READ:
        return not (name == "cv2.imread" and len(call.args) + len(call.keywords) > 1)  # some flags keep 16 bits
    if name in _KEPT and call.args:
        return is_bytes(source, call.args[0], hops - 1)
    asked = tree.argument(call, None, "dtype")
    if (name in _MADE or (not name and how in ("randint", "integers"))) and asked is not None:
        return _is_byte(source, asked)
    if name in _WRAPS and asked is None and call.args:
        return is_opened(source, call.args[0], converted=True) or is_bytes(source, call.args[0], hops - 1)
    made = flow.called(source, call)
    if made is not None and made.owner is None:
        backs = calls.returned(made)
        return bool(backs) and all(is_bytes(made.source, one, hops - 1) for one in backs)
    given = call.args[0] if call.args else asked
    if how == "byte" or (how in ("astype", "type", "to") and given is not None and _is_byte(source, given)):
        return not name and not _is_mask(source, tree.receiver(call))
    other = how == "to" and (asked is not None or (given is not None and source.name(given).startswith("torch.")))
    return how in _SAME and not name and not other and is_bytes(source, tree.receiver(call), hops - 1)


def _is_byte(source: Source, dtype: ast.expr) -> bool:
    return source.name(dtype) in _BYTE or tree.literal(dtype) == "uint8"


def _is_mask(source: Source, node: ast.expr) -> bool:
    """`(x > 0).astype(np.uint8)`: ones and zeros, of which one may hold the other."""
    made = follow.followed(source, node)
    truth = isinstance(made, ast.Compare | ast.BoolOp) or (
        isinstance(made, ast.BinOp) and isinstance(made.op, ast.BitAnd | ast.BitOr)
    )
    return truth or "mask" in source.code(node).lower()


def is_opened(source: Source, node: ast.expr, *, converted: bool = False) -> bool:
    """`Image.open(path)`, turned and resized; with `converted` only where `convert("RGB")` makes bytes of any mode: a depth has 16 bits."""
    made, sure = follow.followed(source, node), not converted
    while isinstance(made, ast.Call) and follow.method(made) in _PICTURE and not source.name(made.func):
        sure = sure or (
            follow.method(made) == "convert" and bool(made.args) and tree.literal(made.args[0]) in _BYTE_MODES
        )
        made = follow.followed(source, tree.receiver(made))
    opened = isinstance(made, ast.Call) and source.name(made.func) == "PIL.Image.open"
    return opened and sure and '"F"' not in source.code(node)
