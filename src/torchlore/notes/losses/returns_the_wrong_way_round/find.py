"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_GAMMA = regex(r"gamma|discount", re.IGNORECASE)
_REWARDS = regex(r"(^|_|\.)(rewards?|rews?|ep_rs)(_\w+)?$", re.IGNORECASE)
WORDS = ("append", "*gamma*|*discount*")


def find(source: Source) -> Iterator[Hit]:
    for loop in source.all(ast.For):
        total = _discounted(loop)
        if total is None:
            continue
        kept = next((one for one in tree.under(source, loop, ast.Call) if _appends(one, total)), None)
        name = tree.dotted(tree.receiver(kept)) if kept is not None else ""
        if kept is None or not name or _turned(source, loop):
            continue
        if _REWARDS.search(tree.dotted(loop.iter)):
            yield source.hit(
                loop.iter,
                f"this adds up the rewards before each step, not after it: go through `reversed({source.code(loop.iter)})`",
            )
        elif _backwards(source, loop.iter):
            yield source.hit(
                kept, f"`{name}` is filled from the last step to the first: write `{name}.insert(0, {total})`"
            )


def _discounted(loop: ast.For) -> str | None:
    """`R` of `R = r + gamma * R`."""
    for one in loop.body:
        name = tree.dotted(one.targets[0]) if isinstance(one, ast.Assign) and len(one.targets) == 1 else ""
        value = one.value if isinstance(one, ast.Assign) else None
        if not name or not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
            continue
        product = next(
            (
                side
                for side in (value.left, value.right)
                if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult)
            ),
            None,
        )
        factors = [tree.dotted(side) for side in (product.left, product.right)] if product is not None else []
        if name in factors and any(_GAMMA.search(side) for side in factors):
            return name
    return None


def _appends(call: ast.Call, total: str) -> bool:
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "append"
        and len(call.args) == 1
        and tree.dotted(call.args[0]) == total
    )


def _backwards(source: Source, over: ast.expr) -> bool:
    """`reversed(rewards)` or `rewards[::-1]`."""
    if isinstance(over, ast.Call) and source.name(over.func) == "reversed" and over.args:
        return _REWARDS.search(tree.dotted(over.args[0])) is not None
    step = over.slice.step if isinstance(over, ast.Subscript) and isinstance(over.slice, ast.Slice) else None
    return (
        tree.literal(step) == -1
        and isinstance(over, ast.Subscript)
        and _REWARDS.search(tree.dotted(over.value)) is not None
    )


def _turned(source: Source, loop: ast.For) -> bool:
    """Whether the list, or the rewards, are turned round anywhere else in the function."""
    home = tree.function(source, loop) or source.tree
    for one in tree.under(source, home, ast.Call):
        word = tree.dotted(one.func).rpartition(".")[2]
        if word in ("reverse", "flip", "flipud", "appendleft") or (word == "reversed" and one is not loop.iter):
            return True
    slices = tree.under(source, home, ast.Slice)
    return any(tree.literal(one.step) == -1 and not tree.inside(source, one, loop.iter) for one in slices)
