"""mm and bmm refuse shapes that do not fit; `*` makes them fit.

`torch.mm` takes two matrices, `torch.bmm` two batches of them, and neither broadcasts. `@` (`torch.matmul`) takes
vectors, matrices and batches, and broadcasts the batch dimensions. `*` is element by element and broadcasts
everything: a column (3, 1) times a row (3,) is a 3 x 3 table, and nothing warns.

Write `@` for matrix products and `torch.einsum("bij,bjk->bik", a, b)` where the letters help the reader. Before an
element-wise product of things that should match one to one, make the shapes equal and say so: `assert a.shape ==
b.shape`, or `torch._check` in a model that is compiled.
"""

ROWS = ("tensor-matmul",)
SOURCES = ("003:156-166",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch

    from torchlore.notes.proof import error_of

    a, b = torch.rand(5, 2, 3, device=device), torch.rand(5, 3, 4, device=device)
    torch.testing.assert_close(torch.bmm(a, b), a @ b)
    torch.testing.assert_close(torch.bmm(a, b), torch.einsum("bij,bjk->bik", a, b))
    torch.testing.assert_close(torch.mm(a[0], b[0]), (a @ b)[0])
    assert error_of(lambda: torch.mm(a, b)) == "RuntimeError"
    assert error_of(lambda: torch.bmm(a, b[:1])) == "RuntimeError"  # no broadcasting
    assert (a @ b[:1]).shape == (5, 2, 4)
    assert (torch.rand(3, 1, device=device) * torch.rand(3, device=device)).shape == (3, 3)
