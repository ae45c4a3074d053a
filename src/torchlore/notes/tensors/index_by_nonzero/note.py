"""x[torch.nonzero(x)] picks whole rows, not the elements that are not zero.

`nonzero` returns one row of coordinates for each element, (count, ndim). Used as an index, every number in it selects
along the first dimension: for a matrix the result has the shape (count, 2, columns). In one dimension there is a stray
dimension of size 1 that broadcasts later.

Index with the mask itself, `x[x != 0]`, or with a tuple, `x[torch.nonzero(x, as_tuple=True)]`. To count do not build
the list: `torch.count_nonzero(x)` or `(x == 0).sum()`; on a GPU `nonzero` also waits for the device, to learn how
large its result is. NaN counts as non-zero.
"""

from typing import Any

ROWS = ("tensor-nonzero",)
SOURCES = ("003:139-145",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    assert good["mean"] == 2.0
    assert bad["mean"] != good["mean"]
    assert bad["shape"] == (3, 2, 2)

    x = torch.tensor([[1.0, 0.0], [0.0, float("nan")]], device=device)
    assert torch.nonzero(x).tolist() == [[0, 0], [1, 1]]  # NaN is not zero
    assert torch.count_nonzero(x) == torch.nonzero(x).size(0) == 2
    assert (x == 0).sum() == torch.nonzero(x == 0).size(0) == 2
    assert torch.nonzero(torch.ones(3, device=device)).shape == (3, 1)
