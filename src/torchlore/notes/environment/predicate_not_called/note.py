"""A test without its brackets, `if torch.cuda.is_available:`, is always true.

A function is an object, and an object is true. The branch for the missing GPU, the missing process group or the
disabled gradient is never taken: on a laptop the program then fails far away with "Found no NVIDIA driver", or quietly
does the wrong half of an `if`.

Call it: `torch.cuda.is_available()`, `dist.is_initialized()`, `torch.is_grad_enabled()`, `tensor.is_contiguous()`.
Passing the function on without calling it (`map(torch.is_tensor, xs)`) is of course fine. A few look like functions
and are properties: `tensor.is_cuda`, `tensor.is_leaf`, `tensor.requires_grad` take no brackets.
"""

from typing import Any

ROWS = ("env-cuda-available",)
SOURCES = ("003:40-43",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import torch

    assert bad["pinned"] is True  # whatever the machine has
    assert good["pinned"] is torch.cuda.is_available()
    assert bad["rank_zero_only"] is True
    assert good["rank_zero_only"] is False  # no process group was started
    assert bool(torch.cuda.is_available) is True
    assert isinstance(torch.ones(1).is_cuda, bool)  # a property: no brackets
