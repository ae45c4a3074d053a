"""The rule of bytes-wrap-around."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, follow, project, scopes, tree
from torchlore.check.source import Hit, Source

_BYTE = {"torch.uint8", "numpy.uint8"}
_READ = {"cv2.imread", "torchvision.io.read_image", "torchvision.io.decode_image", "torchvision.io.decode_jpeg",
         "torchvision.io.decode_png"}  # fmt: skip
_MADE = {f"{room}.{name}" for room in ("torch", "numpy") for name in ("tensor", "array", "asarray", "as_tensor", "zeros",
         "randint", "empty", "full")}  # fmt: skip
_WRAPS = {"torch.from_numpy", "torch.as_tensor", "torch.tensor", "torch.stack", "numpy.stack", "numpy.array", "numpy.asarray",
          "numpy.ascontiguousarray"}  # fmt: skip
_SAME = {"clone", "copy", "contiguous", "to", "cuda", "cpu", "numpy", "reshape", "view", "permute", "transpose", "squeeze",
         "unsqueeze", "flatten"}  # fmt: skip
_HOPS = 6


def find(source: Source) -> Iterator[Hit]:
    if not any(word in source.text for word in ("uint8", "byte()", "imread", "read_image")):
        return
    for gap in source.all(ast.BinOp):
        if isinstance(gap.op, ast.Sub) and _is_bytes(source, gap.left) and _is_bytes(source, gap.right):
            left, right = source.code(gap.left), source.code(gap.right)
            told = f"both sides are bytes, and where `{right}` is larger the difference wraps around to 255 and below"
            yield source.hit(gap, f"{told}: write `{left}.float() - {right}.float()`, of arrays `.astype(np.float32)`")


def _is_bytes(source: Source, node: ast.expr | None, hops: int = _HOPS) -> bool:
    """Whether a picture is surely uint8: by the way it was made, on every path."""
    if node is None or not hops or isinstance(node, ast.Constant):
        return False
    if isinstance(node, ast.Subscript):
        return _is_bytes(source, node.value, hops - 1)
    if isinstance(node, ast.Name):
        bound = scopes.reaching(source, node)
        plain = bool(bound) and all(one.how == "assign" for one in bound)
        return plain and all(_is_bytes(source, _whole(one), hops - 1) for one in bound)
    if isinstance(node, ast.Attribute) and tree.dotted(node) == f"self.{node.attr}":
        owner = project.enclosing_class(source, node)
        kept = classes.assigned(owner, node.attr) if owner is not None else []
        return bool(kept) and all(not one.path and _is_bytes(one.source, one.value, hops - 1) for one in kept)
    return isinstance(node, ast.Call) and _gives_bytes(source, node, hops)


def _whole(one: scopes.Binding) -> ast.expr | None:
    """What a name is bound to, None where it is a part of something that is not written down."""
    value = scopes.part(one)
    return value if not one.path or value is not one.value else None


def _gives_bytes(source: Source, call: ast.Call, hops: int) -> bool:
    name, how = source.name(call.func), follow.method(call)
    if name in _READ:
        return not (name == "cv2.imread" and len(call.args) + len(call.keywords) > 1)  # some flags keep 16 bits
    asked = tree.argument(call, None, "dtype")
    if name in _MADE and asked is not None:
        return _is_byte(source, asked)
    if name in _WRAPS and asked is None and call.args:
        return _is_bytes(source, call.args[0], hops - 1)
    given = call.args[0] if call.args else asked
    if how == "byte" or (how in ("astype", "type", "to") and given is not None and _is_byte(source, given)):
        return not name and not _is_mask(source, tree.receiver(call))
    other = how == "to" and (asked is not None or (given is not None and source.name(given).startswith("torch.")))
    return how in _SAME and not name and not other and _is_bytes(source, tree.receiver(call), hops - 1)


def _is_byte(source: Source, dtype: ast.expr) -> bool:
    return source.name(dtype) in _BYTE or tree.literal(dtype) == "uint8"


def _is_mask(source: Source, node: ast.expr) -> bool:
    """`(x > 0).astype(np.uint8)`: ones and zeros, of which one may hold the other."""
    made = follow.followed(source, node)
    truth = isinstance(made, ast.Compare | ast.BoolOp) or (
        isinstance(made, ast.BinOp) and isinstance(made.op, ast.BitAnd | ast.BitOr)
    )
    return truth or "mask" in source.code(node).lower()
