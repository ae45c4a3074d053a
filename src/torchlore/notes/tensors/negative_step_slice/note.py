"""A tensor cannot be sliced backwards: x[::-1] raises, x.flip(0) is the word.

NumPy and lists take a negative step; torch raises `ValueError: step must be greater than zero`. Code that gets an
array in one place and a tensor in another fails on the second. An array that was sliced backwards is a view with a
negative stride, which `torch.from_numpy` refuses with a ValueError: with a random flip, in the middle of an epoch.

Write `x.flip(0)`, or `x.flip(-1)` to mirror images (N, C, H, W) left to right. It makes a copy, where NumPy's slice is
a view. Indexing with a reversed `arange` gives the same numbers for more typing; for images and boxes together use
`torchvision.transforms.v2.functional.horizontal_flip`. An array is copied first: `torch.from_numpy(image[:, ::-1].copy())`.
"""

from typing import Any

ROWS = ("tensor-flip",)
SOURCES = ("003:116-120",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    from torchlore.recipes.tensors import flip

    assert bad["mirrored"] is None
    assert good["mirrored"] == [3.0, 2.0, 1.0, 0.0]
    x = torch.rand(2, 3, 4, 5, device=device)
    literal = x[:, :, :, torch.arange(x.size(3) - 1, -1, -1, device=device)]
    assert torch.equal(literal, x.flip(3))
    assert torch.equal(flip(x), x.flip(3))
    assert x.flip(3).data_ptr() != x.data_ptr()  # a copy

    import numpy as np

    from torchlore.notes.proof import error_of

    assert error_of(lambda: torch.from_numpy(np.zeros(3)[::-1])) == "ValueError"
    assert torch.from_numpy(np.arange(3)[::-1].copy()).tolist() == [2, 1, 0]
