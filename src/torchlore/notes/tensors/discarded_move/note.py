"""`x.to(device)` moves no tensor: it gives back a moved one.

A Module moves in place, `model.to(device)` is enough; a tensor does not. `x.cuda()`, `x.float()`, `x.half()` or `x.long()`
alone on a line make a new tensor and throw it away: the old one stays on its device and in its dtype, and the next line
fails, or runs on the CPU in silence.

Assign the result: `x = x.to(device)`.
"""

import ast
from collections.abc import Iterator
from typing import Annotated, Any

from torchlore.check import edits, follow, tree, values
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ("tensor-module-cuda",)
SOURCES = (
    "000:1-10",
    "002:1-28",
    "https://discuss.pytorch.org/t/tensor-to-device-doesnt-move-tensor/142716",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_MOVES = ("to", "cuda", "cpu", "float", "double", "half", "bfloat16", "long", "int", "bool", "short", "byte", "char", "type",
          "type_as", "xpu", "mps", "pin_memory")  # fmt: skip

_FRESH = {f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn", "tensor", "Tensor", "FloatTensor")}


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    from torchlore.notes.proof import error_of

    assert bad["dtype"] == "torch.int64"
    assert good["dtype"] == "torch.float32"

    other = "meta" if device == "cpu" else device  # a device that every machine has stands in for the GPU
    model, x = torch.nn.Linear(2, 2), torch.ones(1, 2)
    weight = model.weight
    assert model.to(device) is model
    assert model.weight is weight  # the same Parameter: an optimizer made before stays right
    model.to(other)
    x.to(other)
    assert x.device.type == "cpu"
    assert error_of(lambda: model(x)) == "RuntimeError"  # two devices
    assert model(x.to(other)).device.type == other
    assert x.to("cpu") is x  # nothing to move: no copy


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods(*_MOVES):
        tensor = tree.receiver(call)
        named = isinstance(tensor, ast.Name | ast.Attribute | ast.Subscript)
        if tree.is_shown(source, call) and (not named or follow.method(call) not in ("to", "cuda")):
            continue  # a cell that ends in `x.cpu()` shows it
        if tree.is_statement(source, call) and values.sure(source, tensor, "tensor") and not _is_there(source, call):
            code = source.code(call)
            name = source.code(tensor)
            write = f"write `{name} = {code}`" if named else "give it a name and use that"
            message = f"`{code}` gives back a new tensor and `{name}` stays as it is: {write}"
            yield source.hit(call, message, *([edits.replace(source, call, f"{name} = {code}")] if named else []))


def _is_there(source: Source, call: ast.Call) -> bool:
    """A needless end of a line, not a wrong one: `x.zero_().float()`, or a move to where the tensor was made."""
    if follow.method(tree.receiver(call)).endswith("_") or _wakes_the_gpu(source, tree.receiver(call)):
        return True
    made = follow.followed(source, tree.receiver(call))
    device = tree.argument(made, None, "device") if isinstance(made, ast.Call) else None
    return device is not None and bool(call.args) and source.code(device) == source.code(call.args[0])


def _wakes_the_gpu(source: Source, tensor: ast.expr) -> bool:
    """`torch.zeros(1).cuda()` alone: nobody wants these zeros, the device is taken or warmed up."""
    return isinstance(tensor, ast.Call) and source.name(tensor.func) in _FRESH


def watch(call: Annotated[Call, "discarded"]) -> Alarm | None:
    if call.name not in ("to", "cuda", "cpu", "float", "half", "double", "bfloat16", "long", "int", "type"):
        return None
    return Alarm(
        f"the result of .{call.name}() is thrown away and the tensor stays as it was; assign it: x = x.{call.name}(...)"
    )
