"""torch.equal wants the same bits, allclose forgives and broadcasts, assert_close says what differs.

Floats that went different ways are rarely equal to the last bit, so `torch.equal` is for integers and for "not one bit
changed". It ignores the dtype: 1.0 equals 1. `torch.allclose` has its own traps: it raises when the dtypes differ,
broadcasts a (1,) against a (2, 3) and says True, finds 1e-9 close to 5e-9 because the default `atol` is 1e-8, and NaN
is never close to NaN.

In tests write `torch.testing.assert_close(actual, expected)`: it checks shape, dtype and device as well, picks the
tolerance by dtype, and its message says how many elements differ and by how much. `equal_nan=True` when NaN is right.
"""

ROWS = ("tensor-equal",)
SOURCES = ("003:146-150",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch
    from torch.testing import assert_close

    from torchlore.notes.proof import error_of

    ones, nan = torch.ones(2, 3, device=device), torch.tensor([float("nan")], device=device)
    assert torch.equal(ones, ones.long())  # the dtype is not looked at
    assert not torch.equal(ones.double() * 0.1 * 3, ones.double() * 0.3)
    assert torch.allclose(ones * 0.1 * 3, ones * 0.3)
    assert error_of(lambda: torch.allclose(ones, ones.double())) == "RuntimeError"
    assert torch.allclose(ones, torch.ones(1, device=device))  # other shape, "close"
    assert torch.allclose(torch.tensor(1e-9), torch.tensor(5e-9))  # five times as large, "close"
    assert not torch.allclose(nan, nan)

    for other in (ones.double(), torch.ones(1, device=device), ones * 1.01):
        assert error_of(lambda other=other: assert_close(ones, other)) == "AssertionError"  # type: ignore[misc]  # a default binds the loop's value
    assert_close(ones * 0.1 * 3, ones * 0.3)
    assert_close(nan, nan, equal_nan=True)
