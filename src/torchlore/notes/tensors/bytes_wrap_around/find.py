"""The rule of bytes-wrap-around."""

import ast
from collections.abc import Iterator

from torchlore.check import pixels
from torchlore.check.source import Hit, Source


def find(source: Source) -> Iterator[Hit]:
    if not any(word in source.text for word in ("uint8", "byte()", "imread", "read_image")):
        return
    for gap in source.all(ast.BinOp):
        if isinstance(gap.op, ast.Sub) and pixels.is_bytes(source, gap.left) and pixels.is_bytes(source, gap.right):
            left, right = source.code(gap.left), source.code(gap.right)
            told = f"both sides are bytes, and where `{right}` is larger the difference wraps around to 255 and below"
            yield source.hit(gap, f"{told}: write `{left}.float() - {right}.float()`, of arrays `.astype(np.float32)`")
