"""A conversion returns the very same tensor when there is nothing to convert.

`x.float()` on a float32 tensor, `x.cpu()` on a CPU tensor and `x.cuda()` on a CUDA tensor return `x` itself: an
in-place change of the "copy" changes the original. Whether you got a copy thus depends on what came in. And `.long()`
cuts the fraction off, towards zero: 1.9 becomes 1, -1.9 becomes -1.

Assign what you get, convert device and dtype in one go (`x = x.to(device, torch.float32)`), and when you need memory
of your own say so: `x.to(device, copy=True)` or `.clone()`. Round before `.long()` if you mean the nearest number.
"""

ROWS = ("tensor-convert",)
SOURCES = ("003:74-79",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch

    x = torch.tensor([1.9, -1.9], device=device)
    assert x.float() is x
    assert x.to(device) is x
    assert x.to(x.dtype) is x
    assert x.double() is not x
    own = x.to(device, copy=True)
    own.zero_()
    assert x.abs().sum() > 3
    assert x.long().tolist() == [1, -1]
    assert x.round().long().tolist() == [2, -2]
    if device == "cuda":
        assert x.cuda() is x
        assert x.cpu() is not x
