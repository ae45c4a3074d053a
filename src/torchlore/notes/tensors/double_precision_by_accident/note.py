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

from typing import Any

ROWS = ("tensor-float-vs-double",)
SOURCES = ("003:72",)
TORCH = "2.11, 2.15"
NEEDS = ("numpy",)
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    assert bad["bytes"] == 2 * good["bytes"]
    assert abs(bad["loss"] - good["loss"]) < 1e-4  # the extra digits bought nothing
    assert torch.zeros(2, device=device).dtype == torch.float32  # the default needs no setting
