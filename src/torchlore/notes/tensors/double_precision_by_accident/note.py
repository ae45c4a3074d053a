"""Double precision comes in by accident, from NumPy, and doubles the memory of all it meets.

NumPy computes in float64, `torch.from_numpy` keeps it, and the first layer then complains: "expected m1 and m2 to have
the same dtype". Answering that with `model.double()` makes the error go away and every weight, activation, gradient
and optimizer state twice as large. On a CPU a matrix product takes about twice as long; on consumer GPUs it is many
times slower. On an H200 double is about as fast as float32 without TF32, but TF32 and bfloat16 are far faster.

Turn the data into float32 where they enter: `torch.from_numpy(a).float()`, or `torch.as_tensor(a,
dtype=torch.float32)`. For speed go the other way: `torch.autocast` with bfloat16, and
`torch.set_float32_matmul_precision("high")`. Keep double for what needs the digits, such as long sums and tests of
gradients.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import values
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Step

ROWS = ("tensor-float-vs-double",)
SOURCES = ("003:72",)
TORCH = "2.11, 2.15"
NEEDS = ("numpy",)
SEVERITY = "hint"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    assert bad["bytes"] == 2 * good["bytes"]
    assert abs(bad["loss"] - good["loss"]) < 1e-4  # the extra digits bought nothing
    assert torch.zeros(2, device=device).dtype == torch.float32  # the default needs no setting


WORDS = ("from_numpy", "double|float64")


def find(source: Source) -> Iterator[Hit]:
    if not any(source.calls("torch.from_numpy")) or any(source.calls("torch.autograd.gradcheck")):
        return
    for call in source.methods("double", "to"):
        func = call.func
        if not isinstance(func, ast.Attribute):
            continue
        doubled = func.attr == "double" or any(
            source.name(arg) in {"torch.float64", "torch.double"} for arg in call.args
        )
        if doubled and values.sure(source, func.value, "module"):
            code = source.code(func.value)
            message = (
                f"`{code}` runs in double precision, twice the memory and slower, to fit float64 arrays from NumPy: "
                "turn the data into float32 instead, `torch.from_numpy(a).float()`"
            )
            yield source.hit(call, message)


def watch(step: Step) -> Alarm | None:
    wide = [p for p in step.parameters if str(p.tensor.dtype) == "torch.float64"]
    if step.number > 1 or not wide or step.record.kind == "LBFGS":  # its line search may well need the digits
        return None
    message = (
        f"{len(wide)} parameters, {wide[0].name} among them, are float64: twice the memory and slower; keep the model in "
        "float32 and convert the data, `torch.from_numpy(a).float()`"
    )
    return Alarm(message, at=step.record.place)
