"""view and reshape do not swap dimensions: they cut the same row of numbers at other places.

A tensor (batch, length, heads, size) viewed as (batch, heads, length, size) has the shape that the next line wants,
and the numbers of one head are now a mix of heads and time steps. The same happens to images read as (N, 32, 32, 3) and
viewed as (N, 3, 32, 32), and to (length, batch, size) viewed as (batch, length, size). Nothing raises. The network
still learns something, so it is found late: sequences of a batch look at each other.

To swap use `transpose` or `permute`: `q.view(b, n, heads, -1).transpose(1, 2)`. Back again the swap comes first:
`out.transpose(1, 2).reshape(b, n, heads * size)`. A test: change one sample; only its own output may change.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Any

from torchlore.check import sizes, tree
from torchlore.check.source import Hit, Source
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


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("view", "reshape"):
        new = sizes.asked(source, call)
        old = sizes.sizes(source, tree.receiver(call)) if len(new) > 1 else ()
        if (
            len(new) == 2
            and new[0] != "-1"
            and "layer" not in new[0]
            and sizes.is_last_state(source, tree.receiver(call))
        ):
            old = ("layers", new[0], "hidden")
        elif "-1" not in new and _left_out(old, new) - {"features"}:
            continue  # such a size can only be 1
        swapped = _swapped([size for size in old if size != "1"], _resolved(old, new))
        if swapped:
            message = (
                f"`{source.code(tree.receiver(call))}` is ({', '.join(old)}), and a view keeps the order of its numbers: this "
                f"does not swap `{swapped[0]}` and `{swapped[1]}`, use `transpose` or `permute`"
            )
            yield source.hit(call, message)


def _left_out(old: tuple[str, ...], new: tuple[str, ...]) -> set[str]:
    """Sizes that the view does not ask for, by name or in a product; `heads` is asked for by `d` of (heads, d // heads)."""
    kept = {part.strip(" ()") for size in new for part in re.split(r"\*|//", size)}
    cancelled = {part.strip(" ()") for size in old for part in size.split("//")[1:]}
    return {part.strip(" ()") for size in old for part in re.split(r"\*|//", size)} - kept - cancelled


def _resolved(old: tuple[str, ...], new: tuple[str, ...]) -> list[str]:
    """The sizes asked for, with -1 replaced where only one size of the old ones is left for it."""
    left = [size for size in old if size not in new]
    alone = new.count("-1") == 1 and len(left) == 1 and len(old) == len(new)
    return [left[0] if size == "-1" and alone else size for size in new if size != "1"]


def _swapped(old: list[str], new: list[str]) -> tuple[str, str] | None:
    """The first size that stands where a later one should: by name, or by number where there are three or more."""
    first = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
    if first is None or "-1" in (old[first], *new[: first + 1]):
        return None
    if first and new[first] not in old and old[first] in new[first + 1 :] and not old[first].isdigit():
        return old[first], new[first]  # (b, t, d) as (b, heads, t, ...): the heads are a part of d, not of t
    if new[first] not in old[first + 1 :]:
        return None
    rest = iter(old)
    if all(size in rest for size in new):
        return None  # the same order with sizes left out, which can only be ones
    few = new[first].isdigit() and (len(old) < 3 or sorted(old) != sorted(new))
    return None if few else (old[first], new[first])


def watch(call: Annotated[Call, "view", "reshape"]) -> Alarm | None:
    old, new = tuple(call.args[0].shape), tuple(call.result.shape)
    permuted = len(old) > 2 and old != new and sorted(old) == sorted(new)
    merged = len(old) == 4 and new == (old[0], old[2], old[1] * old[3]) and old[1] != old[2]
    if 1 in old or not (permuted or merged):
        return None
    swap = "the heads are merged without being moved back: transpose first" if merged else "use transpose or permute"
    return Alarm(f"this view of {old} as {new} keeps the order of the numbers and swaps no dimensions; {swap}")
