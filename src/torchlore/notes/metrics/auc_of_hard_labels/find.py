"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, flow, follow, scopes, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_AREAS = ("sklearn.metrics.roc_auc_score", "sklearn.metrics.average_precision_score", "sklearn.metrics.roc_curve",
          "sklearn.metrics.precision_recall_curve")  # fmt: skip
_SAME = {"cpu", "numpy", "detach", "tolist", "long", "int", "float", "astype", "item", "flatten", "squeeze", "view", "reshape", "ravel", "to",
         "extend", "bool"}  # fmt: skip
_WHOLE = {
    "numpy.array",
    "numpy.asarray",
    "numpy.concatenate",
    "torch.cat",
    "torch.stack",
    "numpy.hstack",
    "list",
    "torch.tensor",
    "numpy.vstack",
}
_AREA = regex(r"(^|_)(au?roc|auc|average_precision)(_|$)", re.IGNORECASE)
_SCORE = regex(r"score|prob|pred|logit|output", re.IGNORECASE)
WORDS = ("*auc*|*auroc*|*aroc*|*average_precision*|roc_curve|precision_recall_curve",)


def find(source: Source) -> Iterator[Hit]:
    yield from _by_hand(source)
    for call in source.calls(*_AREAS) if "sklearn" in source.text else ():
        scores = tree.argument(call, 1, "y_score")
        if scores is not None and not follow.in_test(source, call) and _hard(source, scores):
            name = source.name(call.func).rpartition(".")[2]
            yield source.hit(
                call,
                f"`{source.code(scores)}` holds labels already decided, and `{name}` wants scores: give it the probabilities",
            )


def _by_hand(source: Source) -> Iterator[Hit]:
    """`roc_auc(truth, scores)` of the project's own."""
    for function in flow.functions(source):
        args = [one for one in tree.parameters(function) if one.arg != "self"] if _AREA.search(function.name) else []
        named = [one for one in args if _SCORE.search(one.arg)]
        if len(args) != 2 or len(named) != 1:
            continue
        made = as_function(source, function)
        for where, call, skip in calls.callers(made):
            scores = calls.given_argument(made, call, named[0], skip) if where is source else None
            if scores is not None and _hard(source, scores):
                told = f"`{source.code(scores)}` holds labels already decided, and `{function.name}` ranks scores: give it the probabilities"
                yield source.hit(call, told)


def _hard(source: Source, node: ast.expr, hops: int = 6) -> bool:
    """Whether an expression gives 0 and 1: an argmax, a comparison, a rounding, or a list of such."""
    if hops == 0:
        return False
    if isinstance(node, ast.Name):
        found = [(one, _part(one)) for one in scopes.reaching(source, node)]
        empty = any(isinstance(value, ast.List) and not value.elts for _, value in found)
        parts = [
            value for _, value in found if value is not None and not (isinstance(value, ast.List) and not value.elts)
        ]
        seconds = [one for one, value in found if value is None and _second_of_max(source, one.value, one.path)]
        grown = _grown(source, node) if empty else []
        known = len(seconds) == sum(value is None for _, value in found) and all(
            one.how in ("assign", "aug") for one, _ in found
        )
        some = bool(parts or grown or seconds)
        return known and some and all(_hard(source, one, hops - 1) for one in (*parts, *grown))
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1 and isinstance(node.ops[0], ast.Gt | ast.GtE | ast.Lt | ast.LtE)
    return isinstance(node, ast.Call) and _decided(source, node, hops)


def _part(one: scopes.Binding) -> ast.expr | None:
    """What a name gets, also of `a, b = [], []`; None where it is unpacked from something else."""
    if not one.path:
        return one.value
    whole = one.value.elts if isinstance(one.value, ast.Tuple) and len(one.path) == 1 else []
    return whole[one.path[0]] if 0 <= one.path[0] < len(whole) else None


def _decided(source: Source, call: ast.Call, hops: int) -> bool:
    full, method = source.name(call.func), follow.method(call)
    if full in ("torch.argmax", "numpy.argmax", "torch.round", "numpy.round") or (
        not full and method in ("argmax", "round")
    ):
        return True
    if full in _WHOLE and call.args:
        return _hard(source, call.args[0], hops - 1)
    return not full and method in _SAME and _hard(source, tree.receiver(call), hops - 1)


def _second_of_max(source: Source, value: ast.expr | None, path: tuple[int, ...]) -> bool:
    """`preds` of `_, preds = torch.max(out, 1)`."""
    return (
        path == (1,)
        and isinstance(value, ast.Call)
        and (source.name(value.func) == "torch.max" or follow.method(value) == "max")
    )


def _grown(source: Source, name: ast.Name) -> list[ast.expr]:
    """What is appended to a list, or what it is extended by."""
    home, found = tree.function(source, name), []
    for one in uses.names(source, name.id):
        up = source.parents[one]
        call = source.parents[up]
        grows = isinstance(up, ast.Attribute) and up.attr in ("append", "extend") and isinstance(call, ast.Call)
        if grows and isinstance(call, ast.Call) and len(call.args) == 1 and tree.function(source, one) is home:
            found.append(call.args[0])
        elif isinstance(up, ast.AugAssign) and up.target is one:
            found.append(up.value)
    return found
