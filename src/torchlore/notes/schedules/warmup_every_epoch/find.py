"""The rule of warmup-every-epoch."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, flow, follow, iteration, scopes, tree, uses
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_WORDS = (ast.Name, ast.Attribute)
_RATE = re.compile(r"""\[["']lr["']\]|param_groups|set_lr|_lr\(""")

WORDS = ("enumerate|*warm*",)


def find(source: Source) -> Iterator[Hit]:
    if not uses.says(source, "warm"):
        return
    yield from _counted_twice(source)
    for loop in source.all(ast.For):
        name = iteration.index(source, loop)
        for use in (one for part in loop.body for one in tree.under(source, part, ast.Name)) if name else ():
            own = use.id == name and isinstance(use.ctx, ast.Load) and _warms(source, use)
            if (
                own
                and [one.statement for one in scopes.reaching(source, use)] == [loop]
                and _any_epoch(source, use, loop)
                and _again(source, loop)
            ):
                told = f"`{name}` begins at 0 in every epoch, and so does this warm-up"
                yield source.hit(use, f"{told}: count over the epochs, `epoch * len(loader) + {name}`")
                break


def _counted_twice(source: Source) -> Iterator[Hit]:
    """`total = epoch * length + i; if total < warmup: lr = base * i / warmup`: asked with one count, and divided with the other."""
    for choice in source.all(ast.If):
        test = choice.test
        total = test.left if isinstance(test, ast.Compare) else None
        if (
            not isinstance(test, ast.Compare)
            or not isinstance(total, ast.Name)
            or not _is_below(source, test, total.id)
        ):
            continue
        made = follow.followed(source, total)
        sides = (made.left, made.right) if isinstance(made, ast.BinOp) and isinstance(made.op, ast.Add) else ()
        steps = [one for one in sides if isinstance(one, ast.Name)]
        whole = any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult) for one in sides)
        over = source.code(test.comparators[0])
        for share in (
            (one for part in choice.body for one in tree.under(source, part, ast.BinOp)) if whole and steps else ()
        ):
            above = {one.id: one for one in ast.walk(share.left) if isinstance(one, ast.Name)}
            divided = isinstance(share.op, ast.Div) and source.code(share.right) == over
            if divided and steps[0].id in above and total.id not in above:
                name = steps[0].id
                told = (
                    f"`{name}` begins at 0 in every epoch, and so does this warm-up: count with `{total.id}` here too"
                )
                yield source.hit(above[name], told)
                break


def _again(source: Source, loop: ast.For) -> bool:
    """Whether the loop runs several times: in another loop, or in a function that is called in loops alone."""
    home = tree.function(source, loop)
    if any(tree.function(source, one) is home for one in tree.loops(source, loop)):
        return True
    sites = calls.callers(as_function(source, home)) if home is not None else []
    return bool(sites) and all(tree.loops(where, call) for where, call, _ in sites)


def _any_epoch(source: Source, use: ast.Name, loop: ast.For) -> bool:
    """Whether nothing there asks for the epoch."""
    around = [test for test, _ in (*tree.conditions(source, use), *tree.conditions(source, loop))]
    asked = [one for part in (tree.statement(source, use), *around) for one in tree.under(source, part, *_WORDS)]
    return not any("epoch" in tree.dotted(one).lower() for one in asked)


def _warms(source: Source, use: ast.Name) -> bool:
    """`if i < warmup_steps: ... group["lr"] = ...`, or `warmup(optimizer, i, steps)` that does so."""
    up = source.parents[use]
    if _is_share(source, use):
        return True
    if isinstance(up, ast.Compare):
        choice = source.parents[up]
        inside = isinstance(choice, ast.If) and choice.test is up and _RATE.search(source.code(choice)) is not None
        return inside and _is_below(source, up, use.id)
    call = source.parents[up] if isinstance(up, ast.keyword) else up
    inner = flow.called(source, call) if isinstance(call, ast.Call) and "warm" in source.code(call).lower() else None
    if inner is None or not isinstance(call, ast.Call) or _RATE.search(inner.source.code(inner.node)) is None:
        return False
    skip = 1 if inner.owner is not None else 0
    taken = [arg.arg for arg in tree.parameters(inner.node) if calls.given_argument(inner, call, arg, skip) is use]
    return any(
        _is_below(inner.source, one, name)
        for one in tree.under(inner.source, inner.node, ast.Compare)
        for name in taken
    )


def _is_share(source: Source, use: ast.Name) -> bool:
    """`lr = base * min(1.0, (i + 1) / warmup)`, which the loop gives to the optimizer."""
    for one in tree.ancestors(source, use):
        if isinstance(one, ast.stmt):
            break
        share = isinstance(one, ast.BinOp) and isinstance(one.op, ast.Div) and use in ast.walk(one.left)
        if share and isinstance(one, ast.BinOp) and "warm" in source.code(one.right).lower():
            capped = isinstance(up := source.parents[one], ast.Call) and source.name(up.func) == "min"
            loop = next(iter(tree.loops(source, use)))
            return capped and _RATE.search(source.code(loop)) is not None
    return False


def _is_below(source: Source, test: ast.Compare, name: str) -> bool:
    """`i < warmup_steps`, `i <= self.warm`."""
    less = len(test.ops) == 1 and isinstance(test.ops[0], ast.Lt | ast.LtE) and tree.dotted(test.left) == name
    return less and "warm" in source.code(test.comparators[0]).lower()
