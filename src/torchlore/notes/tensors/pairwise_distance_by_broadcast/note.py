"""Distances by sqrt(sum((a[:, None] - b) ** 2)) cost a cube of memory and give NaN gradients at zero.

The difference of every pair is stored before it is summed: 2000 points against 2000 in 512 dimensions are 7.6 GiB for
16 MB of answer. And the slope of the square root at 0 is infinite: one point compared with itself, or two equal
points, and its gradient is NaN, which the next step writes into every weight.

`torch.cdist(a, b)` needs no cube and has no NaN. For more than 25 points it multiplies matrices, which is fast and
loses digits when the points lie far from the origin: the distance of a point to itself came out as 0.7 instead of 0
for data around 1000. Subtract the mean first, or ask for
`compute_mode="donot_use_mm_for_euclid_dist"`. `torchlore.recipes.tensors.pairwise_euclidean` does either, and `nearest`
finds the closest rows without the whole table. If you need the formula, put a small number under the root.
"""

from typing import Any

ROWS = ("tensor-euclid",)
SOURCES = ("003:167-171",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    from torchlore.recipes.tensors import pairwise_euclidean

    assert bad["nan_weights"] > 0  # one step was enough
    assert good["nan_weights"] == 0

    a, b = torch.rand(30, 4, device=device), torch.rand(40, 4, device=device)
    literal = torch.sqrt(torch.sum((a[:, None, :] - b) ** 2, dim=2))
    torch.testing.assert_close(literal, torch.cdist(a, b), atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(literal, pairwise_euclidean(a, b))
    far = torch.rand(64, 3, device=device) + 1000
    exact = torch.cdist(far, far, compute_mode="donot_use_mm_for_euclid_dist")
    quick = torch.cdist(far, far, compute_mode="use_mm_for_euclid_dist")
    centred = torch.cdist(far - far.mean(0), far - far.mean(0), compute_mode="use_mm_for_euclid_dist")
    assert exact.diagonal().max() == 0
    assert quick.diagonal().max() > 0.1
    assert centred.diagonal().max() < 0.01
    assert pairwise_euclidean(far, far).diagonal().max() == 0
