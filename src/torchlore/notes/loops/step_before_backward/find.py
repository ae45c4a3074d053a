"""The rule of step-before-backward."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, flow, follow, frameworks, pattern, scopes, tree, uses, values
from torchlore.check.events import Event
from torchlore.check.source import Hit, Source

_MAY_RUN = pattern.regex(r"backward|(?<!zero_)grad(?!_enabled)|train|update|optimi[sz]e|closure|fit")
_UPDATES = pattern.regex(r"\.grad\b|closure|manual|retain_graph|\.data\.\w+_\(|\.data -=")
_KEEPS = pattern.regex(r"load|save|checkpoint|resume|restore")

WORDS = ("backward", "step|zero_grad")


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("backward")):
        return
    seen: set[ast.AST] = set()
    for loop in flow.training_loops(source):
        pair = _pair(loop)
        if pair is None or frameworks.owned(source, loop.node):
            continue
        step, backward = pair
        tests = [test for test, _ in (*step.conditions, *backward.conditions)]
        always = all(isinstance(source.parents.get(test), ast.While) for test in tests)
        always |= step.conditions == backward.conditions and len(loop.direct("step")) > 1  # `if amp: ... else: ...`
        plain = always and step.detail == backward.detail == ""
        here = step.source is backward.source is source and step.node not in seen
        here &= tree.function(source, step.node) is tree.function(
            source, backward.node
        )  # in the loop, or in one helper
        order = loop.events
        both = [one for one in loop.of("step", "backward") if not flow.exclusive(one, step)]
        elsewhere = len(both) > 2 or loop.of("clip")
        if not plain or not here or elsewhere or order.index(step) > order.index(backward):
            continue
        seen.add(step.node)
        moved = edits.move_after(source, step.node, backward.node)
        code, loss = source.code(step.node), source.code(backward.node)
        yield source.hit(
            step.node, f"`{code}` runs before `{loss}`, on old gradients or none: move it behind", *moved, safe=True
        )
    yield from _on_nothing(source, seen)
    yield from (*_never_stepped(source), *_left_in_table(source))


def _pair(loop: flow.LoopFlow) -> tuple[Event, Event] | None:
    """The one step and the one backward pass of a turn; what stands in another branch of theirs is not of that turn."""
    for step in (one for one in loop.direct("step") if not one.detail):
        steps = [one for one in loop.direct("step") if not flow.exclusive(one, step)]
        backwards = [one for one in loop.direct("backward") if not flow.exclusive(one, step)]
        if len(steps) == 1 and len(backwards) == 1:
            return step, backwards[0]
    return None


def _on_nothing(source: Source, seen: set[ast.AST]) -> Iterator[Hit]:
    """`zero_grad()`, `step()`, `backward()` in one block: also one of several optimizers, and also outside of a loop."""
    places = scopes.blocks(source)
    for backward in source.methods("backward"):
        owner, field, last = places.get(tree.statement(source, backward), (None, "", 0))
        block: list[ast.stmt] = getattr(owner, field) if owner is not None else []
        if owner is None or not tree.is_statement(source, backward) or frameworks.owned(source, backward):
            continue
        calls = [_own_call(one) for one in block]
        index = next((at for at in reversed(range(last)) if _does(source, calls[at], "step")), None)
        step = calls[index] if index is not None else None
        if step is None or index is None or step in seen or step.args or _gives_gradients(block[index:last]):
            continue
        name = source.code(tree.receiver(step))
        zeros = [at for at in range(index) if _does(source, calls[at], "zero_grad", name)]
        again = any(_does(source, one, "step", name) for one in calls[last + 1 :])
        if (
            not zeros
            or again
            or _gives_gradients(block[zeros[-1] : index])
            or not _is_optimizer(source, tree.receiver(step))
        ):
            continue
        seen.add(step)
        told = f"`{source.code(step)}` runs before `{source.code(backward)}`, on gradients that were just cleared: move it behind"
        yield source.hit(step, told, *edits.move_after(source, step, backward), safe=False)


def _own_call(statement: ast.stmt) -> ast.Call | None:
    return statement.value if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None


def _does(source: Source, call: ast.Call | None, method: str, owner: str = "") -> bool:
    """Whether this is `owner.method()`, of anything where no owner is named."""
    if call is None or follow.method(call) != method or source.name(call.func):
        return False
    return not owner or source.code(tree.receiver(call)) == owner


def _gives_gradients(block: list[ast.stmt]) -> bool:
    """Whether a gradient may come between: a backward pass, one by hand, or a function that may run one."""
    parts = [part for one in block for part in ast.walk(one)]
    called = [follow.method(part) or tree.dotted(part.func) for part in parts if isinstance(part, ast.Call)]
    by_hand = any(isinstance(part, ast.Attribute) and part.attr == "grad" for part in parts)
    return by_hand or any(_MAY_RUN.search(name) for name in called)


def _never_stepped(source: Source) -> Iterator[Hit]:
    """One of several optimizers, cleared beside the backward pass, that nothing in the file could step."""
    told: set[str] = set()
    for clear in source.methods("zero_grad"):
        held, name = tree.receiver(clear), tree.dotted(tree.receiver(clear))
        if not isinstance(held, ast.Name | ast.Attribute) or name in told or f"{name}.step(" in source.text:
            continue
        if frameworks.owned(source, clear):
            continue
        home = tree.function(source, clear)
        beside = [one for one in source.methods("step", "backward") if tree.function(source, one) is home]
        other = [one for one in beside if follow.method(one) == "step" and _is_optimizer(source, tree.receiver(one))]
        if len(other) == len(beside) or name.count(".") > 1 or not _is_optimizer(source, held):
            continue
        if not other and (not _learns_alone(source, clear, beside) or _probes(source, clear)):
            continue
        own = isinstance(held, ast.Attribute)
        every = uses.attributes(source, held.attr) if isinstance(held, ast.Attribute) else uses.names(source, name)
        built = [one for one in every if _is_built(source, one)]
        off = re.search(rf"#.*\b{re.escape(name)}\.step\(", source.text)  # the author took it out
        if built and all(_is_idle(source, one, own) for one in every) and not off:
            told.add(name)
            message = f"`{name}` is cleared in each turn and never stepped, so what it holds never changes: add `{name}.step()`"
            passes = [one for one in beside if follow.method(one) == "backward" and one.lineno > clear.lineno]
            apart = len(passes) > 1 and any(passes[0].lineno < one.lineno < passes[1].lineno for one in _zeros(source))
            own_pass = apart or not other
            place = (
                (passes or beside)[0] if own_pass else other[-1]
            )  # its own backward pass, where each optimizer has one
            yield source.hit(place, message, severity="warning")  # or its step is yet to be written


def _left_in_table(source: Source) -> Iterator[Hit]:
    """`opts = {"enc": Adam(...), "dec": Adam(...)}`, cleared all together, and `opts["dec"].step()` alone."""
    for held in (one for kind in (ast.Dict, ast.List, ast.Tuple) for one in uses.assigns(source, None, kind)):
        box, target = held.value, held.targets[0]
        if not isinstance(box, ast.Dict | ast.List | ast.Tuple) or not isinstance(target, ast.Name | ast.Attribute):
            continue
        made = box.values if isinstance(box, ast.Dict) else box.elts
        keys = [tree.literal(one) for one in box.keys if one] if isinstance(box, ast.Dict) else [*range(len(made))]
        if len(made) < 2 or len(keys) != len(made) or not all(values.sure(source, one, "optimizer") for one in made):
            continue
        home = tree.function(source, target)
        if isinstance(target, ast.Attribute):
            every: list[ast.expr] = [*uses.attributes(source, target.attr)]
        else:
            every = [one for one in uses.names(source, target.id) if home in (None, tree.function(source, one))]
        stepped = [_from_table(source, one) for one in every if one is not target]
        named = [one for one in stepped if one is not None]
        left = [one for one in keys if not any(key == one for key, _ in named if key is not None)]
        whole = len(named) == len(stepped) and not frameworks.owned(source, held)
        steps = [call for key, call in named if key is not None and call is not None]
        if whole and steps and left:
            table, told = source.code(target), f"{left[0]!r}" if isinstance(left[0], int) else f'"{left[0]}"'
            message = (
                f"`{table}[{told}]` is never stepped, so what it holds never changes: add `{table}[{told}].step()`"
            )
            yield source.hit(steps[-1], message, severity="warning")


def _from_table(source: Source, use: ast.expr) -> tuple[object, ast.Call | None] | None:
    """The key and the call of `opts["dec"].step()`; (None, None) for what steps nothing; None where anything may happen."""
    up = source.parents[use]
    inner = source.parents[up]
    if isinstance(up, ast.Subscript) and up.value is use and isinstance(inner, ast.Attribute):
        call, key = source.parents[inner], tree.literal(up.slice)
        if key is tree.UNKNOWN or not isinstance(call, ast.Call):
            return None
        return (key, call) if inner.attr == "step" else (None, None)
    walked = isinstance(up, ast.Attribute) and up.attr in ("values", "items") and isinstance(inner, ast.Call)
    loop = source.parents[inner] if walked else up
    over = isinstance(loop, ast.For) and loop.iter in (inner, use)
    only = over and isinstance(loop, ast.For) and all(_does(source, _own_call(one), "zero_grad") for one in loop.body)
    return (None, None) if only else None


def _learns_alone(source: Source, clear: ast.Call, passes: list[ast.Call]) -> bool:
    """Whether the one optimizer is cleared around a backward pass, in a loop or in a method that is one step of it, and nothing there updates."""
    loops, home = tree.loops(source, clear), tree.function(source, clear)
    around = [one for one in passes if tree.loops(source, one) == loops]
    turn = loops[-1] if loops else home if home is not None and tree.method_class(source, home) else None
    return bool(around) and turn is not None and _UPDATES.search(source.code(turn)) is None


def _probes(source: Source, clear: ast.Call) -> bool:
    """`try: one pass`, `except RuntimeError: "out of memory"`: it is only asked whether a batch fits."""
    tries = [up for up in tree.ancestors(source, clear) if isinstance(up, ast.Try)]
    return any(
        re.search(r"memory|oom", source.code(one), re.IGNORECASE) is not None for up in tries for one in up.handlers
    )


def _zeros(source: Source) -> list[ast.Call]:
    return list(source.methods("zero_grad"))


def _is_optimizer(source: Source, node: ast.expr) -> bool:
    return values.sure(source, node, "optimizer", weak=True)


def _is_built(source: Source, use: ast.expr) -> bool:
    """`optimizer = torch.optim.Adam(...)`."""
    up = source.parents[use]
    made = up.value if isinstance(up, ast.Assign) and use in up.targets else None
    return made is not None and values.sure(source, made, "optimizer")


def _is_idle(source: Source, use: ast.expr, own: bool) -> bool:
    """Whether a use steps nothing: built, cleared, given to a scheduler, or to a function that has the same name for it."""
    up = source.parents[use]
    if isinstance(up, ast.Attribute):
        return up.attr in ("zero_grad", "param_groups", "state_dict", "load_state_dict")
    call = source.parents[up] if isinstance(up, ast.keyword) else up
    if not isinstance(call, ast.Call):
        return _is_built(source, use)
    if source.name(call.func).startswith("torch.optim.lr_scheduler.") or _KEEPS.search(source.code(call.func)):
        return True
    inner = flow.called(source, call) if not own else None
    taken = [arg.arg for arg in tree.parameters(inner.node)] if inner is not None and inner.source is source else []
    return isinstance(use, ast.Name) and use.id in taken
