"""The rule of best-compared-the-wrong-way."""

import ast
import math
import re
from collections.abc import Iterator

from torchlore.check import calls, classes, flow, follow, scopes, tree
from torchlore.check.pattern import regex
from torchlore.check.project import enclosing_class
from torchlore.check.scores import direction
from torchlore.check.source import Hit, Source

_GROWS = regex(r"(^|_)(acc|accuracy|f1|auc|auroc|iou|miou|map|psnr|ssim|bleu)$")
_LOSS = regex(r"(^|_|\.)(loss|err|error|mse|rmse|mae|lpips|wer|cer|fid|ppl|perplexity)$")
_FLIP = {ast.Lt: "<", ast.Gt: ">", ast.LtE: "<", ast.GtE: ">"}
_LOOKS = {"__call__", "step", "update", "check", "early_stop", "should_stop"}
WORDS = ("if",)


def find(source: Source) -> Iterator[Hit]:
    yield from _either_way(source)
    yield from _handed_over(source) if "patience" in source.text or "topper" in source.text else ()
    for choice, test, best, value, way in _choices(source):
        start = _start(source, best, choice)
        wrong = (start == math.inf and way == ">") or (start == -math.inf and way == "<")
        if not wrong and way == ">" and _is_loss(source, best, value) and _starts_low(source, best, choice):
            told = f"`{source.code(value)}` is better when it is smaller, and this keeps the largest: write `<`, and start at infinity"
            yield source.hit(test, told, severity="warning")
        least = re.search(r"min|worst|low|small", tree.dotted(best).lower()) is not None  # that is what is wanted
        grows = _GROWS.search(tree.dotted(value).rpartition(".")[2].lower()) is not None and not least
        if way == "<" and grows and start is None and _starts_low(source, best, choice):
            told = f"`{source.code(value)}` is better when it is larger, and this waits for a smaller one: write `>`"
            yield source.hit(test, told, severity="warning")
        if way == "<" and _LOSS.search(tree.dotted(value).lower()) and _starts_below(source, best, choice):
            told = f"`{source.code(best)}` starts at 0 or below, and `{source.code(value)}` never gets there: start at infinity"
            begun = next((one for one in _outside(source, best, choice) if one is not None), test)
            yield source.hit(begun, told, severity="warning")
        if start == math.inf and way == "<" and _is_negated_loss(source, value):
            told = f"`{source.code(value)}` is minus a loss, so this keeps the worst: write `>`, and start at minus infinity"
            yield source.hit(test, told)
        if start == math.inf and way == "<" and grows:
            told = f"`{source.code(value)}` is better when it is larger, and this keeps the smallest: write `>`, and start at 0"
            yield source.hit(test, told, severity="warning")
        if wrong and not isinstance(value, ast.Constant):
            turned = "<" if way == ">" else ">"
            name, other = source.code(best), source.code(value)
            yield source.hit(
                test,
                f"`{name}` starts at {start}, so `{other} {way} {name}` is never true: write `{other} {turned} {name}`",
            )


def _handed_over(source: Source) -> Iterator[Hit]:
    """`early_stopping(val_acc)` of a class of the user's own, which waits for `val_loss` to fall."""
    for call in source.all(ast.Call):
        given = call.args[0] if call.args and isinstance(call.args[0], ast.Name | ast.Attribute) else None
        word = tree.dotted(given).rpartition(".")[2] if given is not None else ""
        inner = flow.called(source, call) if given is not None and direction(word) == "max" else None
        if inner is None or given is None or inner.owner is None or inner.node.name not in _LOOKS:
            continue
        taken = [arg.arg for arg in inner.node.args.args[1:2]]
        text = ast.unparse(inner.owner)
        if taken and direction(taken[0]) == "min" and "patience" in text and "mode" not in text:
            told = f"`{word}` grows as the model gets better, and `{inner.owner.name}` waits for `{taken[0]}` to fall, so it stops as it gets better: give it `-{word}`"
            yield source.hit(given, told, severity="warning")


def _either_way(source: Source) -> Iterator[Hit]:
    """`(falls and value < best) or value > best`: the second half asks nothing, so a value that should fall is kept when it grows."""
    for choice in source.all(ast.If):
        test = choice.test
        if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.Or) or len(test.values) != 2:
            continue
        for one, other in (test.values, test.values[::-1]):
            inner = one.values if isinstance(one, ast.BoolOp) and isinstance(one.op, ast.And) else []
            same = [part for part in inner if _turned(part, other)]
            stored = [target for node in choice.body if isinstance(node, ast.Assign) for target in node.targets]
            if (
                same
                and isinstance(other, ast.Compare)
                and any(ast.unparse(target) == ast.unparse(other.comparators[0]) for target in stored)
            ):
                told = f"`{source.code(other)}` is asked in both cases, so what grows is kept where it should fall: put the other case before it"
                yield source.hit(test, told, severity="warning")
                break


def _turned(one: ast.expr, other: ast.expr) -> bool:
    """`value < best` and `value > best`."""
    if (
        not isinstance(one, ast.Compare)
        or not isinstance(other, ast.Compare)
        or len(one.ops) != 1
        or len(other.ops) != 1
    ):
        return False
    ways = {_FLIP.get(type(one.ops[0])), _FLIP.get(type(other.ops[0]))}
    same = ast.unparse(one.left) == ast.unparse(other.left) and ast.unparse(one.comparators[0]) == ast.unparse(
        other.comparators[0]
    )
    return same and ways == {"<", ">"}


def _choices(source: Source) -> Iterator[tuple[ast.If, ast.Compare, ast.expr, ast.expr, str]]:
    """`if value < best: best = value`, also `if phase == "val" and value < best`, with the sign as it stands when the value is written first."""
    for choice, test in ((one, part) for one in source.all(ast.If) for part in _asked(one.test)):
        if len(test.ops) != 1 or type(test.ops[0]) not in _FLIP:
            continue
        sign = _FLIP[type(test.ops[0])]
        stored = [one for one in choice.body if isinstance(one, ast.Assign)]
        for best, value, way in (
            (test.comparators[0], test.left, sign),
            (test.left, test.comparators[0], "<" if sign == ">" else ">"),
        ):
            mine = [one for one in stored if tree.dotted(one.targets[0]) == tree.dotted(best)]
            if any(ast.dump(one.value) == ast.dump(value) for one in mine):
                yield choice, test, best, value, way


def _asked(test: ast.expr) -> list[ast.Compare]:
    """The comparisons that all have to hold."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return [one for one in parts if isinstance(one, ast.Compare)]


def _is_negated_loss(source: Source, node: ast.expr, hops: int = 5) -> bool:
    """`-loss`, behind names, `.item()` and the project's functions."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return re.search(r"loss|mse|rmse|mae\b|error", source.code(node.operand), re.IGNORECASE) is not None
    if hops == 0:
        return False
    if isinstance(node, ast.Name):
        value = follow.binding(source, node)
        return value is not None and _is_negated_loss(source, value, hops - 1)
    if isinstance(node, ast.Call) and follow.method(node) in ("item", "mean", "cpu", "numpy"):
        return _is_negated_loss(source, tree.receiver(node), hops - 1)
    inner = flow.called(source, node) if isinstance(node, ast.Call) else None
    given = calls.returned(inner) if inner is not None else []
    return inner is not None and bool(given) and all(_is_negated_loss(inner.source, one, hops - 1) for one in given)


def _is_loss(source: Source, best: ast.expr, value: ast.expr) -> bool:
    """Whether a loss is kept under a name that says best or least."""
    kept, given = tree.dotted(best).rpartition(".")[2].lower(), tree.dotted(value).rpartition(".")[2].lower()
    grows = re.search("acc|score|f1|auc|neg", given) or re.search("dice|iou|psnr|ssim|bleu|acc|f1|auc", kept)
    named = re.search(r"(^|_)(best|min|lowest)(_|$)", kept) is not None and grows is None
    home = tree.function(source, value)
    around = f"{source.path} {source.code(home) if home is not None else ''}".lower()
    if re.search(r"attack|perturb|poison", around):
        return False  # who attacks wants the largest
    return (
        named
        and re.search(r"(^|_)(loss|error|mse|rmse|mae|perplexity|ppl)$", given) is not None
        and "-" + given not in source.text
    )


def _starts_low(source: Source, best: ast.expr, choice: ast.If) -> bool:
    """Whether the name begins as a plain number, such as 0."""
    outside = _outside(source, best, choice)
    values = [tree.literal(one) if one is not None else None for one in outside]
    return bool(values) and all(isinstance(one, int | float) and one < 1e3 for one in values)


def _starts_below(source: Source, best: ast.expr, choice: ast.If) -> bool:
    """Whether the name begins at 0 or at a small negative number, and no loss of the file can be below 0."""
    values = [tree.literal(one) if one is not None else None for one in _outside(source, best, choice)]
    low = bool(values) and all(isinstance(one, int | float) and -10 < one <= 0 for one in values)
    likelihood = re.search(r"=\s*-\s*[A-Za-z_(]|return -|log_prob|elbo|reward|negative", source.text)
    return low and not (likelihood and "loss" in tree.dotted(best))


def _outside(source: Source, best: ast.expr, choice: ast.If) -> list[ast.expr | None]:
    """What a name, or an attribute of `self`, is given but in the choice itself; None for what is no plain assignment."""
    if isinstance(best, ast.Name):
        bound = scopes.bound(source, best.id).get(scopes.scope_of(source, best), [])
        kept = [one for one in bound if not tree.inside(source, one.statement, choice)]
        return [_part(one.value, one.path) if one.how == "assign" else None for one in kept]
    cls = enclosing_class(source, best) if tree.dotted(best).startswith("self.") else None
    name = tree.dotted(best).removeprefix("self.")
    found = classes.assigned(cls, name) if cls is not None else []
    mine = [one for one in found if one.source is not source or not tree.inside(source, one.node, choice)]
    return [_part(one.value, one.path) if one.how == "assign" and one.source is source else None for one in mine]


def _part(value: ast.expr | None, path: tuple[int, ...]) -> ast.expr | None:
    """The piece of `a, b = 0, 1` that a name gets."""
    for index in path:
        value = value.elts[index] if isinstance(value, ast.Tuple) and index < len(value.elts) else None
    return value


def _start(source: Source, best: ast.expr, choice: ast.If) -> float | None:
    """The infinity a name starts at; None if it is another value or cannot be seen."""
    starts = {_infinity(source, one) if one is not None else None for one in _outside(source, best, choice)}
    return starts.pop() if len(starts) == 1 else None


def _infinity(source: Source, value: ast.expr) -> float | None:
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        inner = _infinity(source, value.operand)
        return -inner if inner is not None else None
    if source.name(value) in ("math.inf", "numpy.inf", "torch.inf", "numpy.Inf", "sys.maxsize"):
        return math.inf
    if isinstance(value, ast.Call) and source.name(value.func) == "float" and len(value.args) == 1:
        word = str(tree.literal(value.args[0])).lower().strip("+")
        return {"inf": math.inf, "infinity": math.inf, "-inf": -math.inf, "-infinity": -math.inf}.get(word)
    number = tree.literal(value)
    return math.inf if isinstance(number, int | float) and number >= 1e8 else None
