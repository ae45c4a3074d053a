"""The rule of bytes-wrap-around."""

import ast
from collections.abc import Iterator

from torchlore.check import grouped, pixels, stated, tree, values
from torchlore.check.source import Hit, Source

_BRIGHTER = 10  # what is added to a picture: of labels and offsets less is

WORDS = ("*uint8*|*byte*|*imread*|*read_image*",)


def find(source: Source) -> Iterator[Hit]:
    if not any(word in source.text for word in ("uint8", "byte()", "imread", "read_image")):
        return
    for gap in grouped.operations(source, ast.Sub, ast.Add):
        if isinstance(gap.op, ast.Sub) and pixels.is_bytes(source, gap.left) and pixels.is_bytes(source, gap.right):
            left, right = source.code(gap.left), source.code(gap.right)
            told = f"both sides are bytes, and where `{right}` is larger the difference wraps around to 255 and below"
            yield source.hit(gap, f"{told}: write {_in_floats(source, gap, left, right)}")
        if isinstance(gap.op, ast.Sub) and pixels.is_bytes(source, gap.left):
            less = min((one if isinstance(one, int) else 0 for one in _amounts(source, gap.right)), default=0)
            if _BRIGHTER <= less < 256:
                code = source.code(gap.left)
                told = f"`{code}` is bytes, and where it is below {less} the difference wraps around to nearly 255"
                yield source.hit(gap, f"{told}: make it floats first, `{code}.float() - {less}`")
        for given, amount in ((gap.left, gap.right), (gap.right, gap.left)) if isinstance(gap.op, ast.Add) else ():
            more = min((one if isinstance(one, int) else 0 for one in _amounts(source, amount)), default=0)
            if _BRIGHTER <= more < 256 and pixels.is_bytes(source, given):
                code = source.code(given)
                told = f"`{code}` is bytes, and where it is above {255 - more} the sum wraps around to nearly 0"
                yield source.hit(gap, f"{told}: make it floats first and clamp the sum to 0 … 255")


def _in_floats(source: Source, gap: ast.BinOp, left: str, right: str) -> str:
    """The difference as it should be, by what the two are."""
    if values.sure(source, gap.left, "ndarray") or values.sure(source, gap.right, "ndarray"):
        return f"`{left}.astype(np.float32) - {right}.astype(np.float32)`"
    tensors = values.sure(source, gap.left, "tensor") or values.sure(source, gap.right, "tensor")
    return f"`{left}.float() - {right}.float()`" + ("" if tensors else ", of arrays `.astype(np.float32)`")


def _amounts(source: Source, amount: ast.expr) -> list[object]:
    """What may be added: a number, or what a parameter is given everywhere."""
    named = isinstance(amount, ast.Name)
    return stated.constants(source, amount) if named else [tree.literal(amount)]
