"""The square root of a sum of squares has a NaN gradient at zero; torch's own norm has not.

The slope of `sqrt` at 0 is infinite, and infinity times the 0 of the inner square is NaN. One pair of equal points, one
dead channel with variance 0, one loss that is exactly 0 (`torch.sqrt(mse)`), and the step writes NaN into every weight.
It may take a thousand steps to happen. `acos` and `asin` at 1, and `x / x.norm()` at 0, are of the same kind.

Use the operation that knows: `torch.linalg.vector_norm(x, dim=1)`, `x.std()`, `torch.cdist`, `F.normalize`,
`F.cosine_similarity` have the gradient 0 there. Else keep away from the point: `torch.sqrt(y + 1e-12)`,
`torch.acos(c.clamp(-1 + 1e-7, 1 - 1e-7))`.
"""

from typing import Any

ROWS = ()
SOURCES = (
    "https://github.com/pytorch/pytorch/issues/2421",
    "https://github.com/richzhang/PerceptualSimilarity/issues/69",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    assert bad["finite"] is False
    assert good["finite"] is True

    def slope(work: Any) -> list[float]:
        x = torch.zeros(2, device=device, requires_grad=True)
        work(x).backward()
        assert x.grad is not None
        return list(x.grad.tolist())

    assert slope(torch.linalg.vector_norm) == [0, 0]
    assert slope(torch.std) == [0, 0]
    assert all(value != value for value in slope(lambda x: (x**2).sum().sqrt()))  # noqa: PLR0124 - NaN differs from itself
    assert all(value != value for value in slope(lambda x: (x / x.norm()).sum()))  # noqa: PLR0124 - the same
