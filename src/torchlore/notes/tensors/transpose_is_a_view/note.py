"""transpose and permute move no data: they return a view with other strides, contiguous or not.

`transpose` swaps two dimensions, `permute` puts all of them in a new order; `movedim` moves some, and `.mT` swaps the
last two. The numbers stay where they are, so a write to the result is a write to the source. Usually the result is
not contiguous and `view` then refuses it, but not always: where a swapped dimension has size 1, or the order did not
change, it still is.

Do not guess: `reshape` copes with both, `is_contiguous()` answers, and `.contiguous()` copies only if it must. Never
use `view` or `reshape` to swap dimensions: the shape comes out right and the numbers are scrambled.
"""

ROWS = ("tensor-transpose-permute",)
SOURCES = ("001:82",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch

    from torchlore.notes.proof import error_of

    x = torch.arange(24.0, device=device).view(2, 3, 4)
    assert x.transpose(0, 2).shape == x.permute(2, 1, 0).shape == (4, 3, 2)
    assert torch.equal(x.permute(1, 2, 0), x.movedim(0, -1))
    assert torch.equal(x.mT, x.transpose(-2, -1))
    assert not x.transpose(0, 1).is_contiguous()
    assert torch.rand(1, 5, device=device).transpose(0, 1).is_contiguous()
    assert x.permute(0, 1, 2).is_contiguous()
    assert error_of(lambda: x.transpose(0, 1).view(-1)) == "RuntimeError"
    assert not torch.equal(x.view(3, 2, 4), x.transpose(0, 1))  # same shape, other numbers
    x.transpose(0, 1)[2, 1, 3] = -1
    assert x[1, 2, 3] == -1  # one memory
