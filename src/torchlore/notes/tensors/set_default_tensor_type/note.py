"""torch.set_default_tensor_type is deprecated, and with a CUDA type it breaks later, elsewhere.

Setting `torch.FloatTensor` does nothing: float32 is the default already. Setting `torch.cuda.FloatTensor` moves every
tensor that any library makes to the GPU, and on a machine without one it is accepted and then each `torch.zeros(1)`
fails far from the cause.

Say which of the two you mean: `torch.set_default_dtype(torch.float32)` or `torch.set_default_device("cuda")`, and
better still write `device=` where the tensor is made; `with torch.device("cuda"):` covers a block.
"""

from typing import Any

ROWS = ("tensor-default-type",)
SOURCES = ("003:71-73",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import torch

    assert bad["dtype"] == good["dtype"] == "torch.float64"
    assert any("deprecated" in text for text in bad["warnings"])
    assert good["warnings"] == []
    assert torch.get_default_dtype() == torch.float64  # the scripts ran in this process: it is global state
    torch.set_default_dtype(torch.float32)
    with torch.device("meta"):
        assert torch.zeros(1).is_meta
    assert not torch.zeros(1).is_meta
