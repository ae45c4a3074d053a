"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import averages, flow, frameworks, loaders, origin, tree
from torchlore.check.events import Event
from torchlore.check.source import Hit, Source

WORDS = ("backward",)


def find(source: Source) -> Iterator[Hit]:
    if "%" not in source.text or not any(source.methods("backward")):
        return
    for loop in flow.training_loops(source):
        backwards = loop.direct("backward")
        steps = [one for one in loop.of("step") if one.detail != "closure"]
        asked = [_asked(one) for one in steps]
        if len(backwards) != 1 or _tests(backwards[0]) or not steps or frameworks.owned(source, loop.node):
            continue
        yield from _other_turns(source, steps)
        test = asked[0]
        if loop.events.index(backwards[0]) > loop.events.index(steps[0]):
            continue  # it steps with what the turns before have added up
        if (
            test is None
            or any(one is not test for one in asked)
            or any(not _tests(one) for one in loop.of("zero_grad"))
        ):
            continue
        index, count = _index(source, loop.node), test.left
        if not isinstance(count, ast.BinOp) or tree.literal(count.right) == 1 or not index:
            continue
        k = source.code(count.right)
        if tree.dotted(count.left) == index and tree.literal(test.comparators[0]) == 0:
            yield source.hit(
                test, f"`{source.code(test)}` is true for the first batch, so it makes a step alone: write `({index} + 1) % {k} == 0`"
            )  # fmt: skip
        elif (left := _left(source, loop.node, count)) and _drops(source, loop.node):
            yield source.hit(
                test,
                f"the last {left} batches of an epoch make no step, and the next `zero_grad()` throws them away: step at the last batch too",
            )


def _other_turns(source: Source, steps: list[Event]) -> Iterator[Hit]:
    """`if (i + 1) % k: optimizer.step()`."""
    for one in steps:
        tests = one.conditions if one.source is source and len(_tests(one)) == 1 else ()
        test, branch = tests[0] if tests else (None, False)
        turns = any(
            other is test and not which for each in steps for other, which in each.conditions
        )  # two nets by turns
        if branch and isinstance(test, ast.BinOp) and isinstance(test.op, ast.Mod) and not turns:
            code, k = source.code(test), source.code(test.right)
            told = f"`{code}` is true in all turns but every `{k}`-th, so it steps in the others"
            yield source.hit(test, f"{told}: write `{code} == 0`")
            return


def _tests(event: Event) -> list[ast.expr]:
    """The conditions it stands under, without those of `while` loops."""
    return [test for test, _ in event.conditions if not isinstance(event.source.parents.get(test), ast.While)]


def _asked(step: Event) -> ast.Compare | None:
    """The test `i % k == 0` of a step that stands under this one alone."""
    tests = _tests(step)
    test = tests[0] if len(tests) == 1 else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return None
    return test if isinstance(test.left, ast.BinOp) and isinstance(test.left.op, ast.Mod) else None


def _index(source: Source, loop: ast.AST) -> str:
    """`i` of `for i, batch in enumerate(loader)` or `for i in range(n)`, counted from 0."""
    call = loop.iter if isinstance(loop, ast.For) else None
    while isinstance(call, ast.Call) and source.name(call.func).endswith("tqdm") and call.args:
        call = call.args[0]
    name = source.name(call.func) if isinstance(call, ast.Call) else ""
    if not isinstance(loop, ast.For) or not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
        return ""
    first = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) and loop.target.elts else None
    return tree.dotted(first) if name == "enumerate" and first is not None else ""


def _left(source: Source, loop: ast.AST, count: ast.BinOp) -> int:
    """How many batches are left over after the last whole window, where all sizes are seen."""
    home, written = origin.origin(source, count.right)
    k = averages.number(home, written)
    batches = loaders.batches(source, loop.iter) if isinstance(loop, ast.For) else None
    return batches % int(k) if k is not None and k > 1 and batches is not None and batches > k else 0


def _drops(source: Source, loop: ast.AST) -> bool:
    """Whether the gradients are zeroed before the loop, in each epoch, and no step follows it."""
    block: list[ast.stmt] = getattr(source.parents[loop], "body", [])
    place = next((index for index, one in enumerate(block) if one is loop), 0)
    zeroed = any(isinstance(one, ast.Expr) and source.code(one).endswith("zero_grad()") for one in block[:place])
    flushed = any("step(" in source.code(one) and "sched" not in source.code(one).lower() for one in block[place + 1 :])
    again = bool(tree.loops(source, loop)) or tree.function(source, loop) is not None
    return zeroed and again and not flushed
