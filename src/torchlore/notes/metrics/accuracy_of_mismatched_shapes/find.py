"""What a file shows of it."""

import ast
import itertools
from collections.abc import Iterator

from torchlore.check import flow, follow, loaders, losses, scopes, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_SHAPES = regex(r"\.(?:squeeze|unsqueeze|view|reshape|flatten|ravel|argmax|view_as)\b|\[:, ?0\]")
_COLUMN = regex(r"\[:, ?0\]")
_CASTS = ("float", "long", "int", "bool", "byte", "double", "round", "to", "sigmoid", "cpu")
_LOSSES = ("BCEWithLogitsLoss", "BCELoss", "MSELoss", "binary_cross_entropy_with_logits", "binary_cross_entropy")
_INDEX = ("torch.argmax", "torch.Tensor.argmax", "torch.max.indices", "torch.Tensor.max.indices")
WORDS = ("unsqueeze|squeeze|view|reshape|argmax|max|sum|mean",)


def find(source: Source) -> Iterator[Hit]:
    yield from _thresholds(source)
    yield from _over_everything(source)
    yield from _by_shape(source)
    yield from _column_in_a_batch(source)
    asked = (*source.methods("argmax", "max"), *source.calls("torch.argmax", "torch.max"))
    if not any(source.methods("argmax", "max")) or not any(_in_its_row(source, one) for one in asked):
        return
    compared = [(one, one.left, one.comparators[:1]) for one in source.all(ast.Compare)
                if isinstance(one.ops[0], ast.Eq | ast.NotEq)]  # fmt: skip
    methods = [(one, tree.receiver(one), one.args[:1]) for one in source.methods("eq", "ne")]
    for one, left, right in (*compared, *methods):
        if not right or isinstance(left, ast.Constant) or isinstance(right[0], ast.Constant):
            continue  # a number or a word is no tensor of indices
        for index, label in ((left, right[0]), (right[0], left)):
            kept = _keeps(source, index)
            if (kept is False and _is_column(source, label)) or (kept and _is_target(source, label)):
                code = source.code(label)
                mend = f"{code}.view_as({source.code(index)})" if kept else f"{code}.squeeze(1)"
                message = "(N,) meets (N, 1) and every prediction is compared with every label"
                yield source.hit(one, f"{message}: write `{mend}`")


def _by_shape(source: Source) -> Iterator[Hit]:
    """A column of a layer's outputs against (N,) labels, where the shapes of both are seen and nobody made a table on purpose."""
    counting = {*source.methods("sum", "mean"), *source.calls("torch.sum", "torch.mean", "sum")}
    for one in source.all(ast.Compare) if counting else ():
        left, right = one.left, one.comparators[0]
        if not isinstance(one.ops[0], ast.Eq) or len(one.ops) != 1 or isinstance(right, ast.Constant):
            continue
        if counting.isdisjoint(itertools.islice(tree.ancestors(source, one), 5)):
            continue
        first = values.shape(source, left)
        both = (first, values.shape(source, right) if first is not None else None)
        for wide, flat, label in ((both[0], both[1], right), (both[1], both[0], left)):
            table = wide is not None and flat is not None and wide[1:] == (1,) and len(flat) == 1
            if table and flat is not None and flat[0] not in (None, 1) and not _on_purpose(source, one, label):
                code = source.code(label)
                told = "(N, 1) meets (N,) and every prediction is compared with every label"
                yield source.hit(one, f"{told}: write `{code}.unsqueeze(1)`")
                break


def _column_in_a_batch(source: Source) -> Iterator[Hit]:
    """`out.squeeze(1) > 0` against the labels of a loader, which its dataset gives as a column."""
    counting = {*source.methods("sum", "mean"), *source.calls("torch.sum", "torch.mean", "sum")}
    for one in source.all(ast.Compare) if counting and "squeeze" in source.text else ():
        pair = (one.left, one.comparators[0]) if isinstance(one.ops[0], ast.Eq) and len(one.ops) == 1 else None
        if pair is None or counting.isdisjoint(itertools.islice(tree.ancestors(source, one), 5)):
            continue
        for pred, label in (pair, pair[::-1]):
            made = source.values(label) if isinstance(label, ast.Name) else ()
            shape = made[0].shape if len(made) == 1 and made[0].name == "loader" else None
            if shape is not None and shape[0] is not None and shape[1:] == (1,) and _squeezed(source, pred):
                told = "(N,) meets (N, 1) and every prediction is compared with every label"
                yield source.hit(one, f"{told}: write `{source.code(label)}.squeeze(1)`")
                break


def _squeezed(source: Source, node: ast.expr) -> bool:
    """`(out.squeeze(1) > 0).float()`: the last dimension, of size 1, was taken from it."""
    node = follow.followed(source, node)
    while isinstance(node, ast.Compare) or follow.method(node) in _CASTS:
        node = follow.followed(source, node.left if isinstance(node, ast.Compare) else tree.receiver(node))  # type: ignore[arg-type]  # a call
    if not isinstance(node, ast.Call) or follow.method(node) != "squeeze" or len(node.args) != 1:
        return False
    shape = values.shape(source, tree.receiver(node))
    at = tree.literal(node.args[0])
    return shape is not None and shape[1:] == (1,) and at in (1, -1)


def _on_purpose(source: Source, compare: ast.Compare, label: ast.expr) -> bool:
    """Whether one of the sides was given its dimension by hand; labels may be made of one column, `x[:, 0] > 0`."""
    for side in (compare.left, compare.comparators[0]):
        made = follow.followed(source, side)
        compared = side is label and any(isinstance(one, ast.Compare) for one in ast.walk(made))
        code = _COLUMN.sub("", source.code(made)) if compared else source.code(made)
        if _SHAPES.search(code) or "None" in code:
            return True
    return False


def _over_everything(source: Source) -> Iterator[Hit]:
    """`argmax(logits) == labels`: without a dimension it is one number, the largest of the whole batch."""
    for call in (*source.calls("torch.argmax"), *source.methods("argmax")):
        plain = source.name(call.func) == "torch.argmax"
        if (
            not tree.lacks(call, 1 if plain else 0, "dim")
            or not tree.lacks(call, 1 if plain else 0, "axis")
            or (plain and not call.args)
        ):
            continue
        scores, up = call.args[0] if plain else tree.receiver(call), source.parents[call]
        sides = [up.left, *up.comparators] if isinstance(up, ast.Compare) and isinstance(up.ops[0], ast.Eq) else []
        if isinstance(source.parents[up], ast.If | ast.IfExp | ast.Assert):
            continue  # asked as a truth, it is one sample: of a batch this raises
        labels = next((tree.dotted(one) for one in sides if one is not call), "")
        home = tree.function(source, call)
        for loss in (
            losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss") if labels else ()
        ):
            same = loss.input is not None and source.code(loss.input) == source.code(scores)
            meets = loss.target is not None and tree.dotted(loss.target) == labels
            if same and meets and tree.function(source, loss.call) is home:
                yield source.hit(
                    call, "without a dimension this is one index for the whole batch: write `argmax(..., dim=1)`"
                )
                break


def _thresholds(source: Source) -> Iterator[Hit]:
    """The loss gets `y.unsqueeze(1)`, so outputs are (N, 1) and `y` is (N,): a rounded output meets it unchanged."""
    made = any(_is_column(source, one) for one in source.methods("unsqueeze", "view", "reshape"))
    for loss in losses.loss_calls(source, *_LOSSES) if made else ():
        target = loss.target
        if loss.input is None or not isinstance(target, ast.Call) or not _is_column(source, target):
            continue
        out, label, home = tree.dotted(loss.input), tree.dotted(tree.receiver(target)), tree.function(source, loss.call)
        for one in tree.under(source, home or source.tree, ast.Compare, ast.Call) if out and label else ():
            parts = _sides(source, one)
            if parts is None or tree.dotted(parts[1]) != label or out not in _rounded(source, parts[0]):
                continue
            if not _bound_between(source, loss.call, one, label):
                yield source.hit(
                    one,
                    f"(N, 1) meets (N,) and every prediction is compared with every label: write `{label}.unsqueeze(1)`",
                )


def _bound_between(source: Source, first: ast.AST, last: ast.AST, name: str) -> bool:
    lines = sorted((getattr(first, "lineno", 0), getattr(last, "lineno", 0)))
    return any(
        one.id == name and isinstance(one.ctx, ast.Store) and lines[0] < one.lineno <= lines[1]
        for one in source.all(ast.Name)
    )


def _sides(source: Source, node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """Prediction and label of `pred == y`, and of `accuracy(out, y)` where that compares them as they are."""
    if isinstance(node, ast.Compare):
        return (node.left, node.comparators[0]) if isinstance(node.ops[0], ast.Eq) else None
    helper = (
        flow.called(source, node) if isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords else None
    )
    if not isinstance(node, ast.Call) or helper is None or _SHAPES.search(helper.source.code(helper.node)):
        return None
    names = [one.arg for one in helper.node.args.args][-2:]
    compared = [one for one in tree.under(helper.source, helper.node, ast.Compare) if isinstance(one.ops[0], ast.Eq)]
    for one in compared:
        if tree.dotted(one.comparators[0]) == names[-1] and names[0] in _rounded(helper.source, one.left):
            return node.args[0], node.args[1]
    return None


def _rounded(source: Source, node: ast.expr, hops: int = 3) -> set[str]:
    """The names a prediction is made of, through `torch.round(torch.sigmoid(out))` and `out > 0`."""
    if _SHAPES.search(source.code(node)):
        return set()
    found = {tree.dotted(one) for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute)}
    for one in tree.under(source, node, ast.Name) if hops else ():
        value = follow.binding(source, one)
        found |= _rounded(source, value, hops - 1) if value is not None else set()
    return found


def _keeps(source: Source, node: ast.expr) -> bool | None:
    """Whether the class index keeps its dimension; None where it is no class index."""
    calls = [value.node for value in source.values(node) if value.name in _INDEX and value.source is source]
    if not calls or len(calls) != len(source.values(node)) or not isinstance(calls[0], ast.Call):
        return None
    if not _in_its_row(source, calls[0]):
        return None
    place = 1 + _offset(source, calls[0])
    return (
        not tree.lacks(calls[0], place, "keepdim") and tree.literal(tree.argument(calls[0], place, "keepdim")) is True
    )


def _offset(source: Source, call: ast.Call) -> int:
    """Where its dimension stands: `x.argmax(1)` and `torch.argmax(x, 1)`."""
    return 0 if isinstance(call.func, ast.Attribute) and not source.name(call.func) else 1


def _in_its_row(source: Source, call: ast.Call) -> bool:
    """Whether the best is looked for along the last dimension of a table."""
    return tree.literal(tree.argument(call, _offset(source, call), "dim")) in (1, -1)


def _is_column(source: Source, node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        given = tuple(tree.literal(one) for one in node.args)
        return (node.func.attr, given) in {
            ("unsqueeze", (1,)),
            ("unsqueeze", (-1,)),
            ("view", (-1, 1)),
            ("reshape", (-1, 1)),
        }
    made = [one.node for one in source.values(node) if one.name in ("torch.tensor", "torch.LongTensor")]
    rows = tree.literal(made[0].args[0]) if len(made) == 1 and isinstance(made[0], ast.Call) and made[0].args else None
    return isinstance(rows, tuple) and len(rows) > 1 and all(isinstance(row, tuple) and len(row) == 1 for row in rows)


def _is_target(source: Source, node: ast.expr) -> bool:
    """Whether this is the target of a loss that takes labels of shape (N,): the same name, key or part of a loader's batch."""
    home, code, part = tree.function(source, node), tree.dotted(node), _part(source, node)
    for loss in losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss"):
        target = loss.target
        if target is None:
            continue
        if code and tree.dotted(target) == code and tree.function(source, loss.call) is home:
            return True
        if part is not None and _part(source, target) == part:
            return True
    return False


def _part(source: Source, node: ast.expr) -> object:
    """`target` of `batch["target"]`, 1 of `for x, y in loader`: which part of a loader's batch this is, wherever the loop stands."""
    while isinstance(node, ast.Call) and follow.method(node) in ("to", "cuda", "long") and not source.name(node.func):
        node = tree.receiver(node)
    if not loaders.hands_out(source, node):
        return None
    if isinstance(node, ast.Subscript):
        key = tree.literal(node.slice)
        return key if isinstance(key, str) else None
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    return (bound[0].name, bound[0].path[-1]) if len(bound) == 1 and bound[0].how == "for" and bound[0].path else None
