"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import edits, flow, follow, frameworks, tree
from torchlore.check.events import Event
from torchlore.check.source import Hit, Source

WORDS = ("backward",)


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("backward")):
        return
    yield from _accelerated(source)
    for loop in flow.training_loops(source):
        steps = [one for one in loop.direct("step") if one.detail != "closure"]
        backwards, zeros = loop.direct("backward"), loop.direct("zero_grad")
        if len(backwards) == 1 and len(steps) == 1 and not frameworks.owned(source, loop.node):
            yield from _seldom(source, loop, backwards[0], steps[0])
        if not frameworks.owned(source, loop.node):
            yield from _other_branch(source, backwards)
        if (
            not steps
            or not all(_waits(one) or _passed_over(one) for one in steps)
            or frameworks.owned(source, loop.node)
        ):
            continue
        yield from _same_turn(source, backwards, zeros, steps)
        free = [one for one in zeros if not _seldom_run(one) and one.source is source]
        if len(backwards) != 1 or _seldom_run(backwards[0]) or not free or any(_seldom_run(one) for one in zeros):
            continue
        zero, step = free[0], steps[0]
        plain = zero.at is zero.node and step.at is step.node and step.source is source and len(free) == len(steps) == 1
        alone = isinstance(source.parents.get(zero.node), ast.Expr)
        fix = edits.move_after(source, zero.node, _last_of(source, step)) if plain and alone else ()
        yield source.hit(
            zero.node,
            f"the step waits for several batches, and `{source.code(zero.node)}` in each of them leaves it the last one only: "
            "zero right after the step",
            *fix,
        )


def _accelerated(source: Source) -> Iterator[Hit]:
    """`with accelerator.accumulate(net): optimizer.zero_grad()` in front of the pass: the turn that steps throws the others away."""
    for block in source.all(ast.With) if "accelerate" in frameworks.frameworks(source) else ():
        entered = block.items[0].context_expr
        if follow.method(entered) != "accumulate" or not isinstance(entered, ast.Call) or not _several(source):
            continue
        name = tree.dotted(tree.receiver(entered))
        lines = [one for one in block.body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
        passed = [one for one in lines if tree.dotted(one.value.func) == f"{name}.backward"]  # type: ignore[attr-defined]  # a call
        for one in lines if len(passed) == 1 else ():
            if follow.method(one.value) == "zero_grad" and one.lineno < passed[0].lineno:
                told = f"in the turn that steps this throws away what the batches before have gathered under `{name}.accumulate`"
                yield source.hit(one.value, f"{told}: zero right after the step", severity="warning")


def _several(source: Source) -> bool:
    """Whether the accelerator was asked to gather over more than one batch, as far as can be seen."""
    made = [one for one in source.all(ast.Call) if source.name(one.func).rpartition(".")[2] == "Accelerator"]
    told = [tree.argument(one, None, "gradient_accumulation_steps") for one in made]
    known = [one for one in told if one is not None and tree.literal(one) not in (0, 1)]
    return bool(known) or not made or any(not tree.lacks(one, None, "gradient_accumulation_plugin") for one in made)


def _same_turn(source: Source, backwards: list[Event], zeros: list[Event], steps: list[Event]) -> Iterator[Hit]:
    """`if i % k == 0: zero_grad()` before the backward pass and `if i % k == 0: step()` behind it: what was gathered is thrown away."""
    if len(zeros) != 1 or len(steps) != 1 or len(backwards) != 1 or _tests(backwards[0]):
        return
    zero, step, backward = zeros[0], steps[0], backwards[0]
    asked = [source.code(test) for test in _tests(zero)]
    same = asked and asked == [step.source.code(test) for test in _tests(step)] and flow.same_object(zero, step)
    ordered = zero.node.lineno < backward.node.lineno < step.node.lineno  # type: ignore[attr-defined]  # calls
    if same and ordered and zero.source is step.source is backward.source is source:
        told = (
            "this throws away what the batches before have gathered right before the step, which gets the last one only"
        )
        yield source.hit(zero.node, f"{told}: zero right after the step")


def _other_branch(source: Source, backwards: list[Event]) -> Iterator[Hit]:
    """`if k > 1: loss = loss / k` with `backward()` in the `else:` alone: where gradients are gathered there are none."""
    if len(backwards) != 1 or backwards[0].source is not source:
        return
    held = tree.statement(source, backwards[0].node)
    choice = source.parents.get(held)
    if not isinstance(choice, ast.If) or held not in choice.orelse or not choice.body:
        return
    loss = tree.dotted(backwards[0].expr) if backwards[0].expr is not None else ""
    divided = [one for one in choice.body if isinstance(one, ast.Assign | ast.AugAssign) and _divides(one, loss)]
    if loss and divided and len(divided) == len(choice.body):
        told = f"`{loss}.backward()` runs only where `{source.code(choice.test)}` does not hold; else the loss is divided and nothing learns from it"
        yield source.hit(backwards[0].node, f"{told}: put it behind the `if`")


def _divides(one: ast.Assign | ast.AugAssign, loss: str) -> bool:
    """`loss = loss / k` or `loss /= k`."""
    target = one.targets[0] if isinstance(one, ast.Assign) else one.target
    over = one.op if isinstance(one, ast.AugAssign) else one.value.op if isinstance(one.value, ast.BinOp) else None
    return tree.dotted(target) == loss and isinstance(over, ast.Div)


def _seldom(source: Source, loop: flow.LoopFlow, backward: Event, step: Event) -> Iterator[Hit]:
    """The loss is divided by k for every batch, and the backward pass waits for the k-th: the others teach nothing."""
    tests = _tests(backward)
    asked = tests[0] if len(tests) == 1 and tests == _tests(step) and backward.source is source else None
    counted = asked.left if isinstance(asked, ast.Compare) and isinstance(asked.left, ast.BinOp) else None
    if counted is None or not isinstance(counted.op, ast.Mod):
        return
    k = source.code(counted.right)
    shares = [one for one in tree.under(source, loop.node, ast.BinOp) if isinstance(one.op, ast.Div)]
    divided = any(
        source.code(one.right) == k and not tree.inside(source, one, source.parents[asked]) for one in shares if asked
    )
    if divided and any(not _tests(one) for one in loop.direct("forward")):
        yield source.hit(
            backward.node,
            f"only each `{k}`-th batch is differentiated, and divided by `{k}` at that: put `backward()` before the `if`",
        )


def _tests(event: Event) -> list[ast.expr]:
    """The conditions it stands under, without those of `while` loops."""
    return [test for test, _ in event.conditions if not isinstance(event.source.parents.get(test), ast.While)]


def _waits(step: Event) -> bool:
    """Whether the step comes every k-th batch, or when a counter is full that starts again behind it."""
    tests = [test for test in _tests(step) if not _steps_otherwise(step, test)]
    every = any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod) for test in tests for one in ast.walk(test))
    return every or any(_is_full(step, test) for test in tests)


def _seldom_run(event: Event) -> bool:
    return bool(_tests(event)) or _passed_over(event)


def _passed_over(event: Event) -> bool:
    """Whether `if seen < k: continue` or `if i % k: continue` stands above it, which most batches end with."""
    held = tree.statement(event.source, event.node)
    block: list[ast.stmt] = getattr(event.source.parents.get(held), "body", [])
    place = block.index(held) if held in block else 0
    for one in block[:place]:
        if not isinstance(one, ast.If) or one.orelse or not isinstance(one.body[-1], ast.Continue):
            continue
        test = one.test
        if any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in ast.walk(test)):
            return True
        less = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Lt | ast.NotEq)
        name = tree.dotted(test.left) if isinstance(test, ast.Compare) and less else ""
        added = [part for part in block[:place] if isinstance(part, ast.AugAssign) and tree.dotted(part.target) == name]
        again = [part for part in block[place:] if isinstance(part, ast.Assign) and tree.literal(part.value) == 0]
        if name and added and any(tree.dotted(target) == name for part in again for target in _targets(part)):
            return True
    return False


def _steps_otherwise(step: Event, test: ast.expr) -> bool:
    """`if i % k == 0: both.step()`, `else: first.step()`."""
    choice = step.source.parents.get(test)
    other = choice.orelse if isinstance(choice, ast.If) else []
    return any(follow.method(one) == "step" for part in other for one in ast.walk(part))


def _is_full(step: Event, test: ast.expr) -> bool:
    """`seen >= 128`, where `seen += n` in each turn and `seen = 0` beside the step."""
    grows = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.GtE | ast.Gt | ast.Eq)
    name = tree.dotted(test.left) if isinstance(test, ast.Compare) and grows else ""
    choice = step.source.parents.get(test)
    if not name or not isinstance(choice, ast.If) or not step.loops:
        return False
    added = [one for one in tree.under(step.source, step.loops[-1], ast.AugAssign) if isinstance(one.op, ast.Add)]
    again = (one for part in choice.body for one in ast.walk(part) if isinstance(one, ast.Assign))
    zeroed = any(tree.dotted(target) == name for one in again for target in _targets(one))
    return zeroed and any(tree.dotted(one.target) == name for one in added)


def _targets(assign: ast.Assign) -> list[ast.expr]:
    first = assign.targets[0]
    return first.elts if isinstance(first, ast.Tuple) else assign.targets


def _last_of(source: Source, step: Event) -> ast.AST:
    """The line to zero behind: the step, or the `scaler.update()` that belongs to it."""
    block = getattr(source.parents[tree.statement(source, step.node)], "body", [])
    after = [one for one in block if isinstance(one, ast.Expr) and source.code(one).endswith(".update()")]
    return after[-1] if after and step.detail == "scaler" else step.node
