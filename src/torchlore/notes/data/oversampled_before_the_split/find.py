"""The rule of oversampled-before-the-split."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, flow, follow, project, scopes, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_SPLITS = regex(r"(^|_)split(_|$)", re.IGNORECASE)
_OVER = regex(r"over_?sampl|up_?sampl|over_?balance|repeat_minority|duplicate", re.IGNORECASE)
_SPLIT = "sklearn.model_selection.train_test_split"
WORDS = ("*sample*|*balance*", "*split*")


def find(source: Source) -> Iterator[Hit]:
    own = [one for one in flow.functions(source) if _SPLITS.search(one.name) and tree.method_class(source, one) is None]
    divided = [call for one in own for at, call, _ in calls.callers(project.as_function(source, one)) if at is source]
    for split in (*source.calls(_SPLIT), *divided):
        made = next((found for one in split.args[:2] if (found := _resampled(source, one)) is not None), None)
        if made is not None:
            told = f"line {made.lineno} repeats samples before this split, so copies of one come into both parts"
            yield source.hit(split, f"{told}: split first and oversample the training part alone")


def _resampled(source: Source, node: ast.expr, hops: int = 5) -> ast.Call | None:
    """The call that draws samples more than once, through names, `concat` and functions of the project."""
    for one in ast.walk(node):
        if isinstance(one, ast.Call) and _draws(source, one):
            return one
    if not hops:
        return None
    for name in (one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)):
        bound = scopes.reaching(source, name)
        value = bound[0].value if len(bound) == 1 and bound[0].how == "assign" else None
        found = _resampled(source, value, hops - 1) if value is not None else None
        if found is not None:
            return found
    return None


def _draws(source: Source, call: ast.Call) -> bool:
    full = source.name(call.func)
    if full == "sklearn.utils.resample":
        return (
            tree.literal(tree.argument(call, None, "replace")) is not False
            and tree.argument(call, None, "n_samples") is not None
        )
    if follow.method(call) in ("fit_resample", "fit_sample"):
        return "under" not in source.code(tree.receiver(call)).lower() and "Under" not in source.text
    found = source.project.resolve(source, call.func)
    if not isinstance(found, project.Function):
        return False
    inner = found.source
    again = [
        one
        for one in tree.under(inner, found.node, ast.Call)
        if follow.word(inner, one) in ("choice", "randint", "repeat", "choices")
    ]
    if again and _OVER.search(found.node.name) and "replace=False" not in inner.code(found.node):
        return True
    given = [part for one in calls.returned(found) for part in ast.walk(one)]
    names = {one.id for one in given if isinstance(one, ast.Name)}
    draws = [one for one in tree.under(inner, found.node, ast.Call) if inner.name(one.func) == "sklearn.utils.resample"]
    held = [tree.statement(inner, one) for one in draws]
    kept = {
        part.id
        for one in held
        if isinstance(one, ast.Assign)
        for part in ast.walk(one.targets[0])
        if isinstance(part, ast.Name)
    }
    return bool(kept & names)
