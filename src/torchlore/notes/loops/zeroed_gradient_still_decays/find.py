"""The rule of zeroed-gradient-still-decays."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, grouped, stated, tree, values
from torchlore.check.source import Hit, Source

_DECAYS = {"torch.optim.AdamW": 0.01, "torch.optim.Adam": 0.0, "torch.optim.SGD": 0.0}
WORDS = ("grad", "step", "AdamW|weight_decay")


def find(source: Source) -> Iterator[Hit]:
    """`weight.grad[rows] = 0` before a step that decays the weights: these rows shrink all the same."""
    for cell in grouped.stored(source):
        held, base = source.parents[cell], follow.followed(source, cell.value)
        base = base.value if isinstance(base, ast.Attribute) and base.attr == "data" else base
        base = follow.followed(source, base)
        zero = isinstance(held, ast.Assign) and tree.literal(held.value) in (0, 0.0)
        if (
            not zero
            or not isinstance(base, ast.Attribute)
            or base.attr != "grad"
            or _asks_for_zeros(source, cell.slice)
        ):
            continue
        loop = next(iter(tree.loops(source, cell)), None)
        steps = [one for one in source.methods("step") if loop is not None and one.lineno > cell.lineno]
        for step in (one for one in steps if tree.loops(source, one)[:1] == [loop]):
            made = _decaying(source, tree.receiver(step))
            if made is not None and loop is not None and not _put_back(source, loop, step):
                told = f"`{source.code(cell.value)}` is set to 0 in line {cell.lineno} for rows that are to stay, and weight decay shrinks them all the same"
                yield source.hit(
                    made, f"{told}: write `weight_decay=0`, or put them back after the step", severity="warning"
                )


def _asks_for_zeros(source: Source, rows: ast.expr) -> bool:
    """`weight == 0` of a pruned layer: what is zero already does not shrink."""
    asked = follow.followed(source, rows)
    tests = [one for one in ast.walk(asked) if isinstance(one, ast.Compare)]
    return any(tree.literal(one.comparators[0]) in (0, 0.0) for one in tests) or "mask" in source.code(rows).lower()


def _decaying(source: Source, optimizer: ast.expr) -> ast.Call | None:
    """The call that made an optimizer of this file which decays its weights."""
    found = source.values(optimizer)
    made = found[0].node if len(found) == 1 and found[0].source is source else None
    if not isinstance(made, ast.Call) or values.made_by(source, optimizer, *_DECAYS) is None:
        return None
    given = tree.argument(made, None, "weight_decay")
    if given is None:
        plain = tree.lacks(made, None, "weight_decay") and _DECAYS[found[0].name]
        return made if plain else None
    told = stated.constants(source, given) if isinstance(given, ast.Name | ast.Attribute) else [tree.literal(given)]
    return made if told and all(isinstance(one, int | float) and one > 0 for one in told) else None


def _put_back(source: Source, loop: tree.Loop, step: ast.Call) -> bool:
    """`weight[rows] = before[rows]`, `weight.data.copy_(before)` behind the step."""
    later = [one for one in grouped.stored(source) if one.lineno > step.lineno and tree.inside(source, one, loop)]
    copied = [one for one in source.methods("copy_") if one.lineno > step.lineno and tree.inside(source, one, loop)]
    return bool(copied) or any(".grad" not in source.code(one.value) for one in later)
