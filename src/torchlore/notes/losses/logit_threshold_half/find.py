"""The rule of logit-threshold-half."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, classes, edits, follow, losses, project, scopes, stated, tree, values
from torchlore.check.activation import unactivated
from torchlore.check.source import Hit, Source

_SHAPES = {"squeeze", "view", "reshape", "flatten", "detach", "cpu", "float", "unsqueeze"}
WORDS = (f"{losses.SAID}|*igmoid*",)


def find(source: Source) -> Iterator[Hit]:
    yield from _always(source)
    found = losses.loss_calls(source, "BCEWithLogitsLoss", "binary_cross_entropy_with_logits")
    given = [loss.input for loss in found if loss.input is not None]
    models = {name for one in given for name in (_model(source, one), _raw(source, one))} - {""}
    if not models:
        return
    for compare in source.all(ast.Compare):
        half = len(compare.ops) == 1 and _is_half(source, compare.comparators[0])
        order = half and isinstance(compare.ops[0], ast.Gt | ast.GtE | ast.Lt | ast.LtE)
        if order and (_model(source, compare.left) in models or _raw(source, compare.left) in models):
            code = source.code(compare.left)
            written = isinstance(compare.comparators[0], ast.Constant)
            fix = [edits.replace(source, compare.comparators[0], "0")] if written else []
            write = "compare with 0" if written else f"compare `{code}.sigmoid()`"
            message = f"`{code}` holds logits, where 0.5 is a probability of 0.62: {write}"
            yield source.hit(compare, message, *fix, safe=False)
    for call in (*source.calls("torch.round"), *source.methods("round")):
        scores = call.args[0] if source.name(call.func) and call.args else tree.receiver(call)
        if _model(source, scores) in models:
            yield source.hit(call, f"`{source.code(scores)}` holds logits: round their sigmoid, or write `> 0`")


def _is_half(source: Source, limit: ast.expr) -> bool:
    """`0.5`, also as `threshold=0.5` of a function or as an attribute that is given it."""
    if isinstance(limit, ast.Constant):
        return limit.value == 0.5
    asked = "0.5" in source.text and isinstance(limit, ast.Name | ast.Attribute)
    return asked and all(one == 0.5 for one in _limits(source, limit))


def _limits(source: Source, limit: ast.expr) -> list[object]:
    """The numbers that a name or `self.threshold` may be; `UNKNOWN` among them where not all are seen."""
    cls = project.enclosing_class(source, limit) if tree.dotted(limit).startswith("self.") else None
    found = classes.assigned(cls, tree.dotted(limit)[5:]) if cls is not None else []
    if not found:
        return stated.constants(source, limit, options=True)
    given = [(one.source, _part(one)) for one in found]
    return [
        number
        for at, one in given
        for number in (stated.constants(at, one, options=True) if one is not None else [None])
    ]


def _part(one: classes.Attribute) -> ast.expr | None:
    """`threshold` of `self.threshold, self.hits = threshold, 0`."""
    several = isinstance(one.value, ast.Tuple) and len(one.path) == 1 and one.path[0] < len(one.value.elts)
    return one.value.elts[one.path[0]] if several else one.value if not one.path else None  # type: ignore[union-attr]  # a tuple


def _always(source: Source) -> Iterator[Hit]:
    """`sigmoid(x) > 0`: true of every number."""
    for compare in source.all(ast.Compare) if "igmoid" in source.text else ():
        zero = (
            len(compare.ops) == 1 and isinstance(compare.ops[0], ast.Gt) and tree.literal(compare.comparators[0]) == 0
        )
        given = values.state(source, compare.left) if zero and not unactivated(source, compare.left) else None
        if given is not None and given.state == "sigmoid":
            told = "a sigmoid is above 0 whatever it is given: compare it with 0.5, or what goes into it with 0"
            yield source.hit(compare, told)


def _model(source: Source, node: ast.expr) -> str:
    """The layer or model whose raw output this is; "" if it is none."""
    given = values.state(source, node)
    if given is None or given.state != "logits" or not isinstance(given.node, ast.Call) or given.source is None:
        return ""
    return given.source.code(given.node.func)


def _raw(source: Source, node: ast.expr, hops: int = 6) -> str:
    """The class of the model whose output this is as it comes, through shapes and functions that are handed it; "" if it is none."""
    node = follow.followed(source, node)
    while isinstance(node, ast.Call) and follow.method(node) in _SHAPES and not source.name(node.func):
        node = follow.followed(source, tree.receiver(node))
    if isinstance(node, ast.Call):
        found = values.values(source, node.func)
        names = {one.name for one in found} if all(one.kind == "module" for one in found) else set()
        owners = [classes.class_behind(source, one) for one in found]
        plain = all(
            one is not None and "igmoid" not in one.source.code(one.node) for one in owners
        )  # in eval mode, perhaps
        return names.pop() if len(names) == 1 and plain else ""
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) and hops else []
    arg = bound[0].node if len(bound) == 1 and bound[0].how == "parameter" else None
    given = calls.given(source, arg) if isinstance(arg, ast.arg) else []
    known = {_raw(at, one, hops - 1) if one is not None else "" for at, one in given}
    return known.pop() if len(known) == 1 else ""
