"""Adaptive pooling cuts the input into bins of unequal size; there is no single kernel and stride.

Output `i` of `n` covers the inputs from `floor(i*H/n)` up to `ceil((i+1)*H/n)`. When `H` is no multiple of `n` the bins
differ in size and overlap: 10 to 4 gives 0-3, 2-5, 5-8, 7-10. It can also enlarge. So an adaptive layer cannot in general
be replaced by an ordinary one, for instance for an exporter that lacks it.

With one bin it is the global average:

```python
x = x.mean((-2, -1))                     # (N, C), the plain form
x = nn.AdaptiveAvgPool2d(1)(x).flatten(1)  # the same as a layer
```

Without the `flatten(1)` the shape stays (N, C, 1, 1); a bare `squeeze()` would also drop N when the batch has one picture.
"""

ROWS = ("layer-adaptive-max", "layer-gap")
SOURCES = ("001:55-56", "003:180-183")
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import itertools
    import math

    import torch
    from torch import nn

    from torchlore.recipes.shapes import adaptive_bins

    def bins(height: int, out: int) -> list[tuple[int, int]]:
        return [(i * height // out, math.ceil((i + 1) * height / out)) for i in range(out)]

    assert bins(10, 4) == adaptive_bins(10, 4)
    assert bins(10, 4) == [(0, 3), (2, 5), (5, 8), (7, 10)]
    irregular = 0
    for height in range(1, 17):
        x = torch.randn(1, 1, height, device=device)
        for out in range(1, 20):
            edges = bins(height, out)
            expected = torch.stack([x[0, 0, a:b].max() for a, b in edges])
            assert torch.equal(nn.AdaptiveMaxPool1d(out)(x).flatten(), expected)
            steps = {b - a for (a, _), (b, _) in itertools.pairwise(edges)}
            irregular += len({b - a for a, b in edges}) > 1 or len(steps) > 1
    assert irregular > 100

    picture = torch.randn(3, 5, 7, 6, device=device)
    pooled = nn.AdaptiveAvgPool2d(1)(picture)
    assert pooled.shape == (3, 5, 1, 1)
    assert torch.allclose(pooled.flatten(1), picture.mean((-2, -1)), atol=1e-6)
    assert nn.AdaptiveAvgPool2d(1)(picture[:1]).squeeze().shape == (5,)  # the batch is gone
