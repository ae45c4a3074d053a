"""A wrong `einsum` or `einops` pattern raises at its first call, which may be an hour into the run.

A pattern is a little language: as many groups before the arrow as there are tensors, every letter of the result somewhere
before it, no letter twice in the result; for `einops` the same names on both sides, parentheses in pairs, and a size for each
name that cannot be worked out. In a branch that runs late (evaluation, the last stage) the slip waits until then.

```python
torch.einsum("bhqd,bhkd->bhqk", q, k)
rearrange(x, "b (h w) c -> b c h w", h=14)
```
"""

import re
from collections import Counter
from collections.abc import Iterator

from torchlore.check import tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://rules.sonarsource.com/python/RSPEC-6984",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, str], good: dict[str, str]) -> None:
    import torch

    from torchlore.notes.proof import error_of

    assert bad["error"] == "RuntimeError"
    assert good["error"] == ""
    x = torch.ones(2, 3)
    for wrong in ("ij,jk->ik", "ij->ijj", "ij->k", "ijk->i"):
        assert error_of(lambda wrong=wrong: torch.einsum(wrong, x)) == "RuntimeError", wrong  # type: ignore[misc]  # bound now


WORDS = ("einsum|rearrange|reduce|repeat|Rearrange|Reduce",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.einsum", "numpy.einsum"):
        pattern = tree.literal(call.args[0]) if call.args else None
        several = len(call.args) > 2  # a single one may be a list of tensors
        if isinstance(pattern, str) and not tree.spread(call):
            wrong = _einsum(pattern, len(call.args) - 1 if several else pattern.count(",") + 1)
            yield from [source.hit(call, f'the pattern "{pattern}" is wrong: {wrong}')] if wrong else []
    layers = ("einops.layers.torch.Rearrange", "einops.layers.torch.Reduce")
    for call in source.calls("einops.rearrange", "einops.reduce", "einops.repeat", *layers):
        at = 0 if source.name(call.func) in layers else 1
        pattern = tree.literal(call.args[at]) if len(call.args) > at else None
        name = source.name(call.func).rpartition(".")[2].lower()
        given = {one.arg for one in call.keywords if one.arg}
        if isinstance(pattern, str) and not tree.spread(call) and (wrong := _einops(pattern, name, given)):
            yield source.hit(call, f'the pattern "{pattern}" is wrong: {wrong}')


def _einsum(pattern: str, tensors: int) -> str:
    left, arrow, right = pattern.replace(" ", "").partition("->")
    groups = left.split(",")
    if not re.fullmatch(r"[A-Za-z.,]*", left + right):
        return "it may hold letters, commas, dots and one arrow"
    if len(groups) != tensors:
        return f"it names {len(groups)} tensors and {tensors} are given"
    letters = Counter(right.replace("...", ""))
    if unknown := sorted(set(letters) - set(left)):
        return f"`{unknown[0]}` of the result is in no input" if arrow else ""
    twice = [letter for letter, count in letters.items() if count > 1]
    return f"`{twice[0]}` stands twice in the result" if twice else ""


def _einops(pattern: str, name: str, given: set[str]) -> str:
    left, arrow, right = pattern.partition("->")
    if not arrow or "->" in right:
        return "it needs one arrow"
    for side in (left, right):
        if side.count("(") != side.count(")") or re.search(r"\([^)]*\(", side):
            return "its parentheses are not in pairs"
    before, after = (re.findall(r"[A-Za-z_]\w*", side) for side in (left, right))
    if twice := [word for side in (before, after) for word, count in Counter(side).items() if count > 1]:
        return f"`{twice[0]}` stands twice on one side"
    if name != "repeat" and (new := sorted(set(after) - set(before))):
        return f"`{new[0]}` is new on the right"
    if name == "rearrange" and (lost := sorted(set(before) - set(after))):
        return f"`{lost[0]}` is lost on the right"
    stray = sorted(given - {"reduction"} - set(before) - set(after))
    return f"`{stray[0]}` is given a size and is not in it" if stray else ""
