"""view and reshape do not swap dimensions: they cut the same row of numbers at other places.

A tensor (batch, length, heads, size) viewed as (batch, heads, length, size) has the shape that the next line wants,
and the numbers of one head are now a mix of heads and time steps. The same happens to images read as (N, 32, 32, 3) and
viewed as (N, 3, 32, 32), and to (length, batch, size) viewed as (batch, length, size). Nothing raises. The network
still learns something, so it is found late: sequences of a batch look at each other.

To swap use `transpose` or `permute`: `q.view(b, n, heads, -1).transpose(1, 2)`. Back again the swap comes first:
`out.transpose(1, 2).reshape(b, n, heads * size)`. A test: change one sample; only its own output may change.
"""

from typing import Any

ROWS = ()
SOURCES = (
    "https://github.com/zhouhaoyi/Informer2020/issues/59",
    "https://github.com/hyunwoongko/transformer/issues/15",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    assert bad["leak"] > 0.01  # a later token changes what the first head sees of an earlier one
    assert good["leak"] == 0

    x = torch.arange(6, device=device).view(2, 3)
    assert x.view(3, 2).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert x.transpose(0, 1).tolist() == [[0, 3], [1, 4], [2, 5]]
