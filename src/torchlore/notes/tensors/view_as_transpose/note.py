"""view and reshape do not swap dimensions: they cut the same row of numbers at other places.

A tensor (batch, length, heads, size) viewed as (batch, heads, length, size) has the shape that the next line wants,
and the numbers of one head are now a mix of heads and time steps. The same happens to images read as (N, 32, 32, 3) and
viewed as (N, 3, 32, 32), and to (length, batch, size) viewed as (batch, length, size). Nothing raises. The network
still learns something, so it is found late: sequences of a batch look at each other.

To swap use `transpose` or `permute`: `q.view(b, n, heads, -1).transpose(1, 2)`. Back again the swap comes first:
`out.transpose(1, 2).reshape(b, n, heads * size)`. A test: change one sample; only its own output may change.
"""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call

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


def watch(call: Annotated[Call, "view", "reshape"]) -> Alarm | None:
    old, new = tuple(call.args[0].shape), tuple(call.result.shape)
    permuted = len(old) > 2 and old != new and sorted(old) == sorted(new)
    merged = len(old) == 4 and new == (old[0], old[2], old[1] * old[3]) and old[1] != old[2]
    if 1 in old or not (permuted or merged):
        return None
    swap = "the heads are merged without being moved back: transpose first" if merged else "use transpose or permute"
    return Alarm(f"this view of {old} as {new} keeps the order of the numbers and swaps no dimensions; {swap}")
