"""`x.to(device)` moves no tensor: it gives back a moved one.

A Module moves in place, `model.to(device)` is enough; a tensor does not. `x.cuda()`, `x.float()`, `x.half()` or `x.long()`
alone on a line make a new tensor and throw it away: the old one stays on its device and in its dtype, and the next line
fails, or runs on the CPU in silence.

Assign the result: `x = x.to(device)`.
"""

from typing import Annotated, Any

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


def watch(call: Annotated[Call, "discarded"]) -> Alarm | None:
    if call.name not in ("to", "cuda", "cpu", "float", "half", "double", "bfloat16", "long", "int", "type"):
        return None
    return Alarm(
        f"the result of .{call.name}() is thrown away and the tensor stays as it was; assign it: x = x.{call.name}(...)"
    )
