"""The elements of an expanded tensor share memory: a write to one is a write to all.

`t.expand(64, 512, 7, 7)` copies nothing: the new dimensions have stride 0, and 49 places are one number. That is what
makes it cheap, and why `mask = row.expand(n, -1); mask[0, 3] = True` sets column 3 of every row. In-place operations on
the whole tensor (`add_`) raise; a write to single elements does not.

Read from expanded tensors as much as you like. Before writing give each element its own memory: `.expand(...).clone()`,
or `.repeat(...)`, which copies at once. To add dimensions for reading, index with None: `t[:, :, None, None].expand(-1,
-1, 7, 7)`, which is `torchlore.recipes.tensors.expand_map(t, 7, 7)`.
"""

from typing import Any

ROWS = ("tensor-expand",)
SOURCES = ("003:151-155",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    from torchlore.notes.proof import error_of
    from torchlore.recipes.tensors import expand_map

    assert good["visible"] == [2, 3, 4]
    assert bad["visible"] == [2, 2, 2]  # every sample got the shortest one's mask

    t = torch.rand(64, 512, device=device)
    wide = torch.reshape(t, (64, 512, 1, 1)).expand(64, 512, 7, 7)
    assert wide.stride() == (512, 1, 0, 0)
    assert wide.data_ptr() == t.data_ptr()
    assert torch.equal(wide, t[:, :, None, None].expand(-1, -1, 7, 7))
    assert torch.equal(wide, expand_map(t, 7, 7))
    assert error_of(lambda: wide.add_(1)) == "RuntimeError"
