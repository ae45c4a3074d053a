"""The rule of plateau-mode-min-on-accuracy."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, edits, origin, project, scopes, tree, values
from torchlore.check.pattern import regex
from torchlore.check.scores import direction, direction_of_key
from torchlore.check.source import Hit, Source

_PLATEAU = "torch.optim.lr_scheduler.ReduceLROnPlateau"
_KINDS = regex(r"isinstance|plateau", re.IGNORECASE)  # one branch for each kind of schedule
_COUNTING = tuple(f"torch.optim.lr_scheduler.{name}" for name in ("StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR",
                  "LambdaLR", "LinearLR", "PolynomialLR", "OneCycleLR", "CyclicLR", "ConstantLR"))  # fmt: skip


def _is_mean(source: Source, node: ast.expr) -> bool:
    """`total / len(loader)`: no number of an epoch."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and "epoch" not in source.code(node)


WORDS = ("step|monitor",)


def find(source: Source) -> Iterator[Hit]:
    yield from _configured(source) if "lightning" in source.text else ()
    seen: set[ast.AST] = set()
    for call in source.methods("step"):
        scheduler = tree.receiver(call)
        made = values.made_by(source, scheduler, _PLATEAU)
        asked = any(_KINDS.search(source.code(test)) for test, _ in tree.conditions(source, call))
        if (
            made is None
            and not asked
            and call.args
            and (direction(_word(call.args[0])) or _is_mean(source, call.args[0]))
            and values.made_by(source, scheduler, *_COUNTING)
            and not _given_plateau(source, scheduler)
        ):
            told = f"this scheduler takes `{source.code(call.args[0])}` for the number of an epoch: call `step()` without it"
            yield source.hit(call, told)
            continue
        if made is None or made.node is None or asked:
            continue
        code, given = source.code(scheduler), tree.argument(call, 0, "metrics")
        if tree.lacks(call, 0, "metrics"):
            yield source.hit(call, f"ReduceLROnPlateau needs the number it watches: write `{code}.step(val_loss)`")
            continue
        if isinstance(given, ast.Name) and any(isinstance(one, ast.For) and tree.dotted(one.target) == given.id and
                                               "range" in source.code(one.iter) for one in tree.loops(source, call)):  # fmt: skip
            yield source.hit(
                call, f"ReduceLROnPlateau takes `{given.id}` for what it watches: write `{code}.step(val_loss)`"
            )
            continue
        word = _word(given)
        if not direction(word) and given is not None:
            word = _behind(source, given) or word
        mode = _mode(made.source or source, made.node) if isinstance(made.node, ast.Call) else None
        wrong = direction(word)
        if wrong and mode in ("min", "max") and wrong != mode:
            what = "grows as the model gets better" if wrong == "max" else "falls as the model gets better"
            told = f'`{word}` {what}, but `{code}` waits for the other direction: build it with mode="{wrong}"'
            built = made.node if isinstance(made.node, ast.Call) and made.source is source else None
            if made.node not in seen:
                seen.add(made.node)
                plain = built is not None and not tree.spread(built) and len(built.args) < 2
                plain = plain and mode not in _directions(source, made)  # stepped with both: no mode is right for it
                fix = [edits.set_keyword(source, built, "mode", f'"{wrong}"')] if built is not None and plain else []
                yield source.hit(built or call, told, *fix, safe=False)


def _configured(source: Source) -> Iterator[Hit]:
    """`{"scheduler": ReduceLROnPlateau(optimizer), "monitor": "val_acc"}`, which Lightning is handed."""
    for table in source.all(ast.Dict):
        parts = {
            tree.literal(key): value for key, value in zip(table.keys, table.values, strict=True) if key is not None
        }
        word, scheduler = tree.literal(parts.get("monitor")), parts.get("scheduler", parts.get("lr_scheduler"))
        wrong = direction_of_key(word)
        made = values.made_by(source, scheduler, _PLATEAU) if wrong and scheduler is not None else None
        if made is None or not isinstance(made.node, ast.Call) or (made.source or source) is not source:
            continue
        if {wrong, _mode(source, made.node)} == {"min", "max"}:
            what = "grows as the model gets better" if wrong == "max" else "falls as the model gets better"
            told = f'`{word}` {what}, but this scheduler waits for the other direction: build it with mode="{wrong}"'
            yield source.hit(made.node, told, edits.set_keyword(source, made.node, "mode", f'"{wrong}"'), safe=False)


def _given_plateau(source: Source, scheduler: ast.expr) -> bool:
    """`def train(scheduler: LambdaLR)`, which a caller gives a ReduceLROnPlateau: an annotation is only a word."""
    bound = scopes.reaching(source, scheduler) if isinstance(scheduler, ast.Name) else []
    arg = bound[0].node if len(bound) == 1 and bound[0].how == "parameter" else None
    home = tree.function(source, scheduler)
    if home is None or not isinstance(arg, ast.arg):
        return False
    function = project.as_function(source, home)
    given = [(at, calls.given_argument(function, call, arg, skip)) for at, call, skip in calls.callers(function)]
    return any(one is not None and values.made_by(at, one, _PLATEAU) is not None for at, one in given)


def _mode(source: Source, made: ast.Call) -> object:
    """The direction it was built for, also where a dictionary or a caller says it."""
    if tree.lacks(made, 1, "mode"):
        return "min"
    if tree.spread(made) and tree.argument(made, 1, "mode") is None:
        return _spread_mode(source, made)
    given = tree.argument(made, 1, "mode")
    found = (
        {tree.literal(one.node) for one in source.values(given) if isinstance(one.node, ast.Constant)}
        if given is not None
        else set()
    )
    return tree.literal(given) if isinstance(given, ast.Constant) else found.pop() if len(found) == 1 else None


def _spread_mode(source: Source, made: ast.Call) -> object:
    """The direction that `**options` says, where its keys are all written down."""
    boxes = [one.value for one in made.keywords if one.arg is None]
    found = (
        source.values(boxes[0])
        if len(boxes) == 1 and not any(isinstance(one, ast.Starred) for one in made.args)
        else ()
    )
    box = found[0].node if len(found) == 1 else None
    if (
        not isinstance(box, ast.Dict)
        or any(not isinstance(tree.literal(key), str) for key in box.keys if key)
        or None in box.keys
    ):
        return None
    said = [
        value
        for key, value in zip(box.keys, box.values, strict=True)
        if key is not None and tree.literal(key) == "mode"
    ]
    return tree.literal(said[0]) if said else "min"


def _word(given: ast.expr | None) -> str:
    key = tree.literal(given.slice) if isinstance(given, ast.Subscript) else None
    return key if isinstance(key, str) else tree.dotted(given).rpartition(".")[2] if given is not None else ""


def _behind(source: Source, given: ast.expr) -> str:
    """`correct` of `return 100 * correct / n`, where the name of the number says nothing."""
    _, made = origin.origin(source, given)
    while isinstance(made, ast.BinOp) and isinstance(made.op, ast.Mult | ast.Div):
        scaled = isinstance(made.op, ast.Mult) and tree.literal(made.left) is not tree.UNKNOWN
        made = made.right if scaled else made.left
    if _is_accuracy(source, made):
        return "accuracy"
    made = tree.receiver(made) if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) else made
    return tree.dotted(made).rpartition(".")[2] if made is not given else ""


def _is_accuracy(source: Source, made: ast.expr) -> bool:
    """`(scores.argmax(1) == y).float().mean().item()`."""
    ways = set[str]()
    while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute):
        ways.add(made.func.attr)
        made = made.args[0] if source.name(made.func).startswith("torch.") and made.args else tree.receiver(made)
    equal = isinstance(made, ast.Compare) and len(made.ops) == 1 and isinstance(made.ops[0], ast.Eq)
    return equal and "mean" in ways and ".argmax(" in ast.unparse(made)


def _directions(source: Source, made: values.Value) -> set[str]:
    """The directions of all that this scheduler is stepped with."""
    steps = [call for call in source.methods("step") if made in source.values(tree.receiver(call))]
    return {direction(_word(tree.argument(call, 0, "metrics"))) for call in steps}
