"""What a file shows of it."""

import re
from collections.abc import Iterator

from torchlore.check import sizes, tree
from torchlore.check.source import Hit, Source

_HEADS = re.compile(r"head|(?:^|[._])n?_?h$")


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
        elif _merges_heads(old, new):
            yield source.hit(call, f"`{source.code(tree.receiver(call))}` is ({', '.join(old)}): `{old[1]}` and `{old[2]}` change places only with "
                             "`transpose(1, 2)` before this")  # fmt: skip
            continue
        elif (moved := _other_order(old, new)) is not None:
            yield source.hit(call, f"`{source.code(tree.receiver(call))}` is ({', '.join(old)}), and a view keeps the order of its numbers: `{moved[0]}` and "
                             f"`{moved[1]}` change places only with `permute` before this")  # fmt: skip
            continue
        elif (inner := _taken_inside(old, new)) is not None:
            yield source.hit(call, f"`{source.code(tree.receiver(call))}` is ({', '.join(old)}), and a view keeps the order of its numbers: `{old[1]}` comes "
                             f"into `{inner}` only with `permute` before this")  # fmt: skip
            continue
        elif "-1" not in new and _left_out(old, new) - {"features"}:
            continue  # such a size can only be 1
        old = tuple("1" if _is_one(old, new, place) else size for place, size in enumerate(old))
        swapped = _swapped([size for size in old if size != "1"], _resolved(old, new))
        if swapped:
            message = (
                f"`{source.code(tree.receiver(call))}` is ({', '.join(old)}), and a view keeps the order of its numbers: this "
                f"does not swap `{swapped[0]}` and `{swapped[1]}`, use `transpose` or `permute`"
            )
            yield source.hit(call, message)


def _is_one(old: tuple[str, ...], new: tuple[str, ...], place: int) -> bool:
    """(a, t, d) as (1, t, ...): the author writes the 1 that `a` is."""
    here = new[place : place + 2] == ("1", *old[place + 1 : place + 2]) and place + 1 < len(old)
    return here and old[place] not in new


def _merges_heads(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """(b, heads, t, d) as (b, t, width): the width takes parts of other positions with it."""
    return (
        len(old) == 4
        and len(new) == 3
        and new[:2] == (old[0], old[2])
        and new[2] not in old
        and _HEADS.search(old[1].lower()) is not None
    )


def _other_order(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, str] | None:
    """(b, c, t, h, w) as (b * t, c, h, w): the same sizes, multiplied in another order."""
    asked = [[part.strip(" ()") for part in size.split("*")] for size in new]
    named = all(size.isidentifier() for size in old) and len(set(old)) == len(old)
    if (
        not named
        or not any("*" in size for size in new)
        or sorted(part for group in asked for part in group) != sorted(old)
    ):
        return None
    rest = list(old)
    for group in asked:
        taken, rest = rest[: len(group)], rest[len(group) :]
        if set(taken) != set(group):  # within one product the order does not matter
            return next((a, b) for a, b in zip(taken, group, strict=True) if a != b)
    return None


def _taken_inside(old: tuple[str, ...], new: tuple[str, ...]) -> str | None:
    """(b, c, h, w) as (b, patches, c * p * p): the second size becomes a part of a later one, and h and w stay in front."""
    if len(old) < 4 or len(new) < 3 or new[0] != old[0] or not old[1].isidentifier() or old[1] in old[2:]:
        return None
    products = [size for size in new[2:] if "*" in size and "/" not in size and old[1] in _factors(size)]
    return products[0] if products and old[1] not in _factors(new[1]) and new[1] != "1" else None


def _factors(size: str) -> set[str]:
    return {part.strip(" ()") for part in re.split(r"\*|//|/", size)}


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
        both = [size for size in old if size in new and size.isidentifier()]
        other = [size for size in new if size in both]
        return next(((a, b) for a, b in zip(both, other, strict=False) if a != b), None)
    rest = iter(old)
    if all(size in rest for size in new):
        return None  # the same order with sizes left out, which can only be ones
    few = new[first].isdigit() and (len(old) < 3 or sorted(old) != sorted(new))
    return None if few else (old[first], new[first])
