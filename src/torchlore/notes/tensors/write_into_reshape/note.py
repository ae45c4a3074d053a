"""A write into x.reshape(...) reaches x only if the reshape happened to be a view.

`reshape` returns a view where the memory allows it and a copy where it does not; so do `flatten`, `contiguous` and
`ravel`. A write into the result works on the tensor you tested with, and silently changes nothing when the input comes
from a `transpose`, a slice or an `expand`.

`view` never copies: it raises instead. It does not need a contiguous tensor, only one whose dimensions can be merged
as asked. So use `reshape` to read, and `view` where the result must stay tied to its source. To write, index the
tensor itself (`x[:, 0] = v`) or write back: `flat = x.reshape(-1).clone(); ...; x = flat.view_as(x)`.
"""

from typing import Any

ROWS = ("tensor-reshape-view",)
SOURCES = ("003:111-113", "001:81")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    from torchlore.notes.proof import error_of

    assert bad["masked"] == 0  # the write went into a copy
    assert good["masked"] == 3

    x = torch.zeros(4, 6, device=device)
    assert x.reshape(-1).data_ptr() == x.data_ptr()  # a view here
    assert x.t().reshape(-1).data_ptr() != x.data_ptr()  # a copy here
    assert error_of(lambda: x.t().view(-1)) == "RuntimeError"
    assert x[:, :3].view(2, 2, 3).shape == (2, 2, 3)  # not contiguous, and viewed all the same
    assert not x[:, :3].is_contiguous()
