"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, flow, frameworks, tree, uses, values
from torchlore.check.events import Event
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_BATCH = regex(r"(?:^|[._])(?:mini_?)?batch_?size$|^bs$", re.IGNORECASE)  # single samples, summed up to a batch
_SCALE_FREE = regex(r"Adam|AdamW|NAdam|RAdam|Adamax|RMSprop|Adagrad|Adadelta|Rprop|Lion|LAMB|Lamb")

WORDS = ("backward",)


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("backward")):
        return
    seen = set()
    for loop in flow.training_loops(source):
        backwards = [one for one in loop.direct("backward") if one.source is source]
        steps = [one for one in loop.of("step") if one.detail != "closure"]
        if len(backwards) != 1 or not steps or frameworks.owned(source, loop.node) or len(loop.of("backward")) != 1:
            continue
        counts = [_count(source, test) for step in steps for test, _ in _tests(source, step, loop.node)]
        every = next((one for one in counts if one is not None), None)
        if (
            every is None
            or backwards[0].conditions
            or not all(_waits(source, one, loop.node) for one in steps)
            or tree.literal(every) == 1
        ):
            continue
        zeroed = [one for one in loop.of("zero_grad") if not _tests(source, one, loop.node)]
        if not zeroed and (late := _too_late(source, loop.node, backwards[0], every)) is not None:
            yield source.hit(
                late, f"backward() has run, so dividing by `{source.code(every)}` changes no gradient: divide before it"
            )
            continue
        if zeroed or "sum" in source.code(backwards[0].node) or any(_scales(*one) for one in _run(source, loop.node)):
            continue
        if backwards[0].node in seen:
            continue
        seen.add(backwards[0].node)
        code = source.code(every)
        yield source.hit(
            backwards[0].node,
            f"the gradients of {code} batches add up before each step: divide the loss by `{code}`",
            severity="hint" if _BATCH.search(code) or _any_scale(loop, steps) else None,
        )


def _any_scale(loop: flow.LoopFlow, steps: list[Event]) -> bool:
    """Adam divides by the size of the gradients, so a factor on all of them is no matter unless they are clipped."""
    made = [one for step in steps if step.expr is not None for one in values.values(step.source, step.expr)]
    known = [one.name.rpartition(".")[2] for one in made if one.kind == "optimizer"]
    return bool(known) and all(_SCALE_FREE.match(one) for one in known) and not loop.of("clip")


def _too_late(source: Source, loop: ast.AST, backward: Event, every: ast.expr) -> ast.Assign | None:
    """`loss = loss / k` behind `loss.backward()`."""
    name = tree.dotted(tree.receiver(backward.node)) if isinstance(backward.node, ast.Call) else ""
    for one in tree.under(source, loop, ast.Assign):
        value = one.value
        same = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div) and tree.dotted(one.targets[0]) == name
        if isinstance(value, ast.BinOp) and same and tree.dotted(value.left) == name:
            before = one.lineno < getattr(backward.node, "lineno", 0)
            return one if source.code(value.right) == source.code(every) and not before else None
    return None


def _waits(source: Source, step: Event, loop: ast.AST) -> bool:
    return any(_count(source, test) is not None for test, _ in _tests(source, step, loop))


def _tests(source: Source, event: Event, loop: ast.AST) -> list[tuple[ast.expr, bool]]:
    """What is asked before it happens, `if step % k: continue` above it too."""
    return [*event.conditions, *tree.guards(source, event.at, loop)]


def _count(source: Source, test: ast.expr) -> ast.expr | None:
    """`k` of `(i + 1) % k == 0`, wherever it stands in the test, or of `turns >= k` where the branch sets `turns` to 0."""
    found = (one for one in ast.walk(test) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod))
    rest = next((one.right for one in found), None)
    choice = source.parents.get(test)
    if rest is not None or not isinstance(test, ast.Compare) or not isinstance(choice, ast.If):
        return rest
    name, asked = tree.dotted(test.left), isinstance(test.ops[0], ast.GtE | ast.Eq)
    reset = any(isinstance(one, ast.Assign) and name == tree.dotted(one.targets[0]) and tree.literal(one.value) == 0
                for one in choice.body)  # fmt: skip
    return test.comparators[0] if name and asked and reset else None


def _run(source: Source, node: ast.AST, depth: int = 3) -> Iterator[tuple[Source, ast.AST]]:
    """The node, and the project's functions that run in it."""
    yield source, node
    for call in tree.under(source, node, ast.Call) if depth else ():
        inner = flow.called(source, call)
        if inner is not None:
            yield from _run(inner.source, inner.node, depth - 1)


def _only_told(source: Source, node: ast.BinOp | ast.AugAssign) -> bool:
    """Whether the result is a number for the log: `running / len(loader)` in a print, `loss.item() / k`."""
    left = node.left if isinstance(node, ast.BinOp) else node.target
    shown = any(isinstance(up, ast.JoinedStr) or (isinstance(up, ast.Call) and source.name(up.func) == "print")
                for up in tree.ancestors(source, node))  # fmt: skip
    inner = flow.called(source, left) if isinstance(left, ast.Call) else None
    back = calls.returned(inner) if inner is not None else [left]
    taken = bool(back) and all(
        any(isinstance(part, ast.Attribute) and part.attr == "item" for part in ast.walk(one)) for one in back
    )
    return shown or taken or values.sure(source, left, "number")


def _scales(source: Source, loop: ast.AST) -> bool:
    """Whether anything in the loop is divided or weighted in a way that could be the mean over the batches."""
    for one in ast.walk(loop):
        if isinstance(one, ast.BinOp | ast.AugAssign) and isinstance(one.op, ast.Div):
            if not _only_told(source, one):
                return True
            continue
        if (
            isinstance(one, ast.BinOp)
            and isinstance(one.op, ast.Mult)
            and isinstance(one.right, ast.Name | ast.Attribute)
        ):
            return True
        if isinstance(one, ast.Attribute) and one.attr in ("div_", "mul_", "div", "mul", "no_sync"):
            return True
    return "reduction" in source.text or uses.says(source, "accelerat")
