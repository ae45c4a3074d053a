"""torch.from_numpy shares memory with the array, so a buffer that is filled again changes old tensors.

A reader that fills one array again and again (a camera, a memory map, `readinto`) and keeps `torch.from_numpy(buffer)`
each time ends with a list whose entries are all the last frame. `.float()` saves you only when the array has another
dtype: on a float32 array it returns the same memory.

Copy when the array will be written again: `torch.tensor(buffer)` always copies, so do
`torch.from_numpy(buffer.copy())` and `torchlore.recipes.tensors.from_numpy(buffer)`. `torch.as_tensor` and `from_numpy` never copy without need. A negative stride, as
from `a[::-1]` or `np.flip(a)`, is the one case that says so: `ValueError`, and `.copy()` cures that as well.
"""

from typing import Any

ROWS = ("tensor-from-numpy",)
SOURCES = ("003:85-88",)
TORCH = "2.11, 2.15"
NEEDS = ("numpy",)
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import numpy as np
    import torch

    from torchlore.notes.proof import error_of

    assert good["means"] == [0.0, 1.0, 2.0, 3.0]
    assert bad["means"] == [3.0, 3.0, 3.0, 3.0]  # every frame is the last one

    array = np.arange(3, dtype=np.float32)
    assert error_of(lambda: torch.from_numpy(array[::-1])) == "ValueError"
    assert torch.from_numpy(array[::-1].copy()).tolist() == [2, 1, 0]
    for shared, make in ((True, torch.from_numpy), (True, torch.as_tensor), (False, torch.tensor)):
        assert (make(array).data_ptr() == array.ctypes.data) is shared
    assert torch.from_numpy(array.astype(np.float64)).float().data_ptr() != array.ctypes.data
