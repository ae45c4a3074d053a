"""`x.to(device)` moves no tensor: it gives back a moved one.

A Module moves in place, `model.to(device)` is enough; a tensor does not. `x.cuda()`, `x.float()`, `x.half()` or `x.long()`
alone on a line make a new tensor and throw it away: the old one stays on its device and in its dtype, and the next line
fails, or runs on the CPU in silence.

Assign the result: `x = x.to(device)`.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://discuss.pytorch.org/t/tensor-to-device-doesnt-move-tensor/142716",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_MOVES = ("to", "cuda", "cpu", "float", "double", "half", "bfloat16", "long", "int", "bool", "short", "byte", "char", "type",
          "type_as", "xpu", "mps", "pin_memory")  # fmt: skip


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["dtype"] == "torch.int64"
    assert good["dtype"] == "torch.float32"


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods(*_MOVES):
        tensor = tree.receiver(call)
        if tree.is_statement(source, call) and values.sure(source, tensor, "tensor"):
            code = source.code(call)
            name = source.code(tensor)
            named = isinstance(tensor, ast.Name | ast.Attribute | ast.Subscript)
            message = f"`{code}` gives back a new tensor and `{name}` stays as it is: write `{name} = {code}`"
            yield source.hit(call, message, *([edits.replace(source, call, f"{name} = {code}")] if named else []))
