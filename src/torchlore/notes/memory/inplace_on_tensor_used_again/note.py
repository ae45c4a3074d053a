"""An in-place operation changes the tensor for everybody who still uses it, a residual branch first.

`out = F.relu(x, inplace=True)` overwrites `x`. In `x + out` both sides are then the activated tensor: the block
computes `2 * relu(x)`, nothing raises, and the network is worse. Captured features are overwritten the same way.
Where autograd needs the old values it raises instead ("modified by an inplace operation"), as it does for a leaf.

The memory it saves is mostly imagined: in a chain of convolution, norm and ReLU the peak is the same with and without,
because the tensor before the activation is freed anyway; 9 % on an H200. It helps only where the old tensor is kept by
a name. Leave `inplace` off; for memory use `torch.utils.checkpoint`, autocast or a smaller batch.
"""

from typing import Any

ROWS = ("memory-inplace",)
SOURCES = ("003:671-674",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    from torchlore.notes.proof import error_of

    assert good["out"] == [-2.0, 0.0, 6.0]
    assert bad["out"] == [0.0, 0.0, 6.0]  # the negative part of the skip is gone

    weight = torch.ones(2, device=device, requires_grad=True)
    assert error_of(weight.relu_) == "RuntimeError"  # a leaf
    gate = weight.sigmoid()
    gate.relu_()
    assert error_of(lambda: gate.sum().backward()) == "RuntimeError"  # sigmoid's backward needs its result
