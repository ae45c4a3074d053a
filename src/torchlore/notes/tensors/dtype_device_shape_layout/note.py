"""A tensor is described by dtype, device, shape and layout; ask for those, not for type().

`tensor.type()` mixes two facts in one string, `torch.FloatTensor` or `torch.cuda.FloatTensor`, so a comparison with
it breaks as soon as the tensor moves. `size()` and `shape` are the same `torch.Size`, which is a tuple: it unpacks,
compares with a plain tuple and hashes. `dim()` and `ndim` count the dimensions.

Write `t.dtype == torch.float32`, `t.device.type == "cuda"`, `t.shape == (64, 3, 224, 224)`. The layout is
`torch.strided` for every dense tensor, also a transposed one; how the numbers lie in memory is `t.stride()`.
"""

ROWS = ("tensor-info", "tensor-attrs")
SOURCES = ("003:64-69", "004:104-106")
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch

    t = torch.zeros(4, 3, 2, 1, device=device)
    assert isinstance(t.size(), tuple)
    assert t.size() == t.shape == (4, 3, 2, 1)
    assert t.dim() == t.ndim == 4
    assert (t.dtype, t.device.type, t.layout) == (torch.float32, device, torch.strided)
    assert t.transpose(0, 1).layout == torch.strided
    assert t.transpose(0, 1).stride() == (2, 6, 1, 1)
    assert t.type() == {"cpu": "torch.FloatTensor", "cuda": "torch.cuda.FloatTensor"}[device]  # changes with the device
