"""What a file shows of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree, uses
from torchlore.check.source import Hit, Source

_FACTORS = (
    ("StepLR", 2, "gamma"),
    ("MultiStepLR", 2, "gamma"),
    ("ExponentialLR", 1, "gamma"),
    ("ReduceLROnPlateau", 2, "factor"),
)

WORDS = ("|".join(("LambdaLR", "SGD", "Adam", "AdamW", "RMSprop", *(name for name, _, _ in _FACTORS))),)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.optim.lr_scheduler.LambdaLR"):
        factor = tree.argument(call, 1, "lr_lambda")
        if not isinstance(factor, ast.Lambda) or not isinstance(factor.body, ast.BinOp):
            continue
        body, names = factor.body, [one.arg for one in factor.args.args]
        if isinstance(body.op, ast.FloorDiv) and isinstance(body.left, ast.Name) and body.left.id in names:
            told = f"`{source.code(body)}` is 0 until the step reaches `{source.code(body.right)}`: divide with `/`"
            yield source.hit(body, told)
    for call in source.calls("torch.optim.lr_scheduler.LambdaLR"):
        factor = tree.argument(call, 1, "lr_lambda")
        yield from _warm_up(source, factor) if isinstance(factor, ast.Name) else ()
    for name, place, word in _FACTORS:
        for call in source.calls(f"torch.optim.lr_scheduler.{name}"):
            given = tree.argument(call, place, word)
            if given is not None and tree.literal(given) in (0, 0.0) and not follow.in_test(source, call):
                told = f"`{word}={source.code(given)}` multiplies the rate by 0, for good: 1 leaves it as it is"
                yield source.hit(given, told)
    for call in source.calls("torch.optim.SGD", "torch.optim.Adam", "torch.optim.AdamW", "torch.optim.RMSprop"):
        rate = tree.argument(call, 1, "lr")
        if (
            rate is not None
            and tree.literal(rate) == 0
            and not (_changed_later(source) or follow.in_test(source, call))
            and _steps(source, call)
        ):
            yield source.hit(rate, "a learning rate of 0 trains nothing: give one above 0")


def _warm_up(source: Source, factor: ast.Name) -> Iterator[Hit]:
    """`if step < warm: return step // warm` in the function that gives the factor: 0 in every step it is asked for."""
    for value in source.values(factor):
        if not isinstance(value.node, ast.FunctionDef) or value.source is not source:
            continue
        names = {one.arg for one in tree.parameters(value.node)}
        for given in tree.under(source, value.node, ast.Return):
            body = given.value.args[0] if isinstance(given.value, ast.Call) and given.value.args else given.value
            if (
                not isinstance(body, ast.BinOp)
                or not isinstance(body.op, ast.FloorDiv)
                or tree.dotted(body.left) not in names
            ):
                continue
            below = [source.code(body.right)]
            below += [source.code(one) for one in body.right.args] if isinstance(body.right, ast.Call) else []
            tests = [
                test for test, branch in tree.conditions(source, given) if branch and isinstance(test, ast.Compare)
            ]
            if any(
                source.code(one.comparators[0]) in below and isinstance(one.ops[0], ast.Lt | ast.LtE) for one in tests
            ):
                yield source.hit(body, f"`{source.code(body)}` is 0 through the whole warm-up: divide with `/`")


def _steps(source: Source, call: ast.Call) -> bool:
    """Whether this optimizer steps, and nobody loads another rate into it."""
    held = source.parents[call]
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
    used = {
        source.parents[one] for one in (*source.all(ast.Name), *source.all(ast.Attribute)) if tree.dotted(one) == name
    }
    asked = {one.attr for one in used if isinstance(one, ast.Attribute)}
    return bool(name) and "step" in asked and "load_state_dict" not in asked


def _changed_later(source: Source) -> bool:
    """Whether the rate is set by hand or by a scheduler somewhere."""
    return "param_groups" in source.text or uses.says(source, "scheduler") or "sched" in source.text
