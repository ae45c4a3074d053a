"""What a file shows of it."""

import ast
import itertools
import re
from collections.abc import Iterator

from torchlore.check import calls, flow, follow, frameworks, tree
from torchlore.check.events import Event
from torchlore.check.pattern import regex
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_MODULE = "torch.optim.lr_scheduler."
_STEPS = regex(r"(train|training|total|max|num|decay)_?(steps|iters|iterations)$|^t_total$", re.IGNORECASE)
_BATCHES = regex(r"len\(|step|iter|batch", re.IGNORECASE)

WORDS = ("step",)


def find(source: Source) -> Iterator[Hit]:
    if "lr_scheduler" not in source.text:
        return
    for where, call in _told_to_step(source) if '"interval"' in source.text or "'interval'" in source.text else ():
        if _in_epochs(source, call):
            kind = source.name(call.func).rpartition(".")[2]
            yield source.hit(where, f'{kind} with `{source.code(call)}` counts epochs: write "interval": "epoch"')
    yield from _twice(source)
    for loop in flow.training_loops(source):
        nested = bool(tree.loops(source, loop.node)) or _called_in_loop(source, loop.node)
        over_batches = any(
            one.what == "batches" and one.node is loop.node for one in flow.events_of(source, loop.function)
        )
        if frameworks.owned(source, loop.node) or not (nested or over_batches):
            continue
        for event in loop.direct("schedule"):
            yield from _by_helper(source, event)
            made = source.values(event.expr) if event.expr is not None and event.source is source else ()
            made = tuple(one for one in made if one.kind != "none")
            built = [one.node for one in made if isinstance(one.node, ast.Call) and one.source is source]
            if (
                any(not _asks_for(source, test, event.expr) for test, _ in event.conditions)
                or not built
                or len(built) != len(made)
                or not all(_in_epochs(source, one) for one in built)
            ):
                continue
            kind = made[0].name.rpartition(".")[2]
            if kind == "ReduceLROnPlateau":
                told = "waits `patience` epochs and is given every batch's loss: step it once an epoch, with the mean"
                yield source.hit(event.node, f"{kind} {told}")
                continue
            yield source.hit(
                event.node,
                f"{kind} with `{source.code(built[0])}` counts epochs and is stepped after every batch, which takes the rate "
                "to nothing: step it at the end of the epoch",
            )


def _by_helper(source: Source, event: Event) -> Iterator[Hit]:
    """`linear_schedule(optimizer, warmup, num_training_steps=epochs)`, a function of this file, stepped after every batch."""
    call = follow.followed(source, event.expr) if event.expr is not None and event.source is source else None
    inner = flow.called(source, call) if isinstance(call, ast.Call) and not event.conditions else None
    if inner is None or not isinstance(call, ast.Call):
        return
    for arg in tree.parameters(inner.node):
        given = calls.given_argument(inner, call, arg, 1 if inner.owner is not None else 0)
        if _STEPS.search(arg.arg) and isinstance(given, ast.Name | ast.Attribute) and _names_epochs(source, given):
            told = f"`{arg.arg}` is `{source.code(given)}` here, and the scheduler is stepped after every batch, so it is at its end within the first"
            yield source.hit(given, f"{told}: give it the number of batches in all epochs")


def _asks_for(source: Source, test: ast.expr, scheduler: ast.expr | None) -> bool:
    """`if self.scheduler is not None:`, `if scheduler:` only ask whether there is one."""
    one = test.left if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot) else test
    return scheduler is not None and source.code(one) == source.code(scheduler)


def _called_in_loop(source: Source, loop: ast.AST) -> bool:
    """Whether the function around a loop over batches is called in a loop, that over epochs."""
    home = tree.function(source, loop)
    batches = isinstance(loop, ast.For) and isinstance(loop.target, ast.Tuple)
    sites = calls.callers(as_function(source, home)) if home is not None and batches else []
    return bool(sites) and all(tree.loops(caller, call) for caller, call, _ in sites)


def _twice(source: Source) -> Iterator[Hit]:
    """One scheduler that is stepped in two places of one epoch, both after the loop over batches."""
    seen = set[ast.AST]()
    for loop in flow.backward_loops(source):
        if loop.direct("backward") or frameworks.owned(source, loop.node):
            continue
        steps = [one for one in loop.direct("schedule") if not one.conditions and one.owner is not None]
        for first, second in itertools.combinations(steps, 2):
            if (
                first.owner == second.owner
                and first.node is not second.node
                and second.source is source
                and second.node not in seen
            ):
                seen.add(second.node)
                yield source.hit(
                    second.at,
                    f"`{source.code(second.expr or second.node)}` is stepped twice in an epoch: leave one of them out",
                )
                break
        yield from _batch_and_epoch(source, loop, seen)


def _batch_and_epoch(source: Source, loop: flow.LoopFlow, seen: set[ast.AST]) -> Iterator[Hit]:
    """One scheduler that is stepped after every batch, and once more for the epoch."""
    steps = [one for one in loop.of("schedule") if one.owner is not None and _plainly(one)]
    outer = [one for one in steps if one.loops and one.loops[-1] is loop.node]
    for one in outer:
        inner = [other for other in steps if other.owner == one.owner and other.loops[: len(one.loops)] == one.loops
                 and len(other.loops) == len(one.loops) + 1]  # fmt: skip
        trained = any(back.loops == other.loops for back in loop.of("backward") for other in inner)
        made = source.values(one.expr) if one.expr is not None and one.source is source else ()
        built = [value.node for value in made if isinstance(value.node, ast.Call) and value.source is source]
        if (
            not trained
            or one.source is not source
            or one.node in seen
            or any(_in_epochs(source, call) for call in built)
        ):
            continue  # it counts epochs: the step after the batch is the wrong one
        name = source.code(one.expr or one.node)
        told = f"`{name}` is stepped after every batch and once more here, for the epoch: leave one of them out"
        seen.add(one.node)
        yield source.hit(one.node, told, severity="warning")


def _plainly(step: Event) -> bool:
    """Whether it steps in every turn, and counts itself: `step(epoch)` sets the count."""
    return not step.conditions and isinstance(step.node, ast.Call) and not step.node.args and not step.node.keywords


def _in_epochs(source: Source, call: ast.Call) -> bool:
    """Whether the lengths it was given can only be meant in epochs: in batches a thousand steps would leave no rate."""
    kind = source.name(call.func).rpartition(".")[2]
    gamma = tree.literal(tree.argument(call, 1 if kind == "ExponentialLR" else 2, "gamma"))
    if kind == "ReduceLROnPlateau":
        patience = 10 if tree.lacks(call, 3, "patience") else tree.literal(tree.argument(call, 3, "patience"))
        return isinstance(patience, int) and patience <= 30
    if kind == "ExponentialLR":
        return isinstance(gamma, float) and 0 < gamma < 0.98
    gamma = 0.1 if tree.lacks(call, 2, "gamma") else gamma
    if kind == "StepLR":
        size = tree.literal(tree.argument(call, 1, "step_size"))
        falls = isinstance(gamma, float) and 0 < gamma < 1
        counted = isinstance(size, int) and isinstance(gamma, float) and gamma ** (1000 / max(size, 1)) < 1e-5
        return falls and (counted or _names_epochs(source, tree.argument(call, 1, "step_size")))
    if kind == "MultiStepLR":
        marks = tree.literal(tree.argument(call, 1, "milestones"))
        return isinstance(marks, tuple) and bool(marks) and all(isinstance(one, int) and one <= 300 for one in marks)
    if kind == "LambdaLR":
        return _share_of_epochs(source, tree.argument(call, 1, "lr_lambda"))
    return kind == "CosineAnnealingLR" and _names_epochs(source, tree.argument(call, 1, "T_max"))


def _share_of_epochs(source: Source, factor: ast.expr | None) -> bool:
    """`lambda t: 1 - t / epochs`, also as a function of this file."""
    made = [one.node for one in source.values(factor)] if isinstance(factor, ast.Name) else [factor]
    inner = made[0] if len(made) == 1 else None
    if not isinstance(inner, ast.Lambda | ast.FunctionDef) or len(inner.args.args) != 1 or inner not in source.parents:
        return False
    own = inner.args.args[0].arg
    shares = [
        one for one in ast.walk(inner) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Div | ast.FloorDiv)
    ]
    return any(tree.dotted(one.left) == own and _names_epochs(source, one.right) for one in shares)


def _names_epochs(source: Source, length: ast.expr | None) -> bool:
    code = source.code(length) if length is not None else ""
    return "epoch" in code.lower() and not _BATCHES.search(code)


def _told_to_step(source: Source) -> Iterator[tuple[ast.expr, ast.Call]]:
    """Where Lightning is told to step a scheduler after every batch, and how that one was built."""
    for config in source.all(ast.Dict):
        keys = {
            tree.literal(key): value for key, value in zip(config.keys, config.values, strict=True) if key is not None
        }
        if tree.literal(keys.get("interval")) != "step" or "scheduler" not in keys:
            continue
        if "frequency" in keys and tree.literal(keys["frequency"]) != 1:
            continue
        if "train" in str(tree.literal(keys.get("monitor"))):
            continue  # the loss of the step it is to wait for
        made = source.values(keys["scheduler"])
        if len(made) == 1 and isinstance(made[0].node, ast.Call) and made[0].source is source:
            yield keys["interval"], made[0].node
