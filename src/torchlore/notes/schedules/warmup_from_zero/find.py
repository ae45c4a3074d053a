"""The rule of warmup-from-zero."""

import ast
from collections.abc import Iterator

from torchlore.check import flow, identity, project, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_EPOCH = regex(r"^(e|ep|t|epochs?|cur_epoch|epoch_?idx|epoch_?num)$")

WORDS = ("LambdaLR",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.optim.lr_scheduler.LambdaLR"):
        rule = tree.argument(call, 1, "lr_lambda")
        name, body = _at_first(source, rule) if rule is not None else ("", None)
        if body is not None and _is_zero(source, body, name) and _by_epoch(source, call):
            yield source.hit(
                call if isinstance(rule, ast.Lambda) else body,
                f"`{source.code(body)}` is 0 at {name}=0, so the first epoch trains nothing: write "
                f"`min(({name} + 1) / n, 1.0)`",
            )


def _at_first(source: Source, rule: ast.expr) -> tuple[str, ast.expr | None]:
    """The count of a lambda or a function of this file, also in a `partial`, and what it gives for the first one."""
    if isinstance(rule, ast.Lambda):
        return (rule.args.args[0].arg, rule.body) if len(rule.args.args) == 1 else ("", None)
    given = {one.arg for one in rule.keywords} if isinstance(rule, ast.Call) else set()
    bound = isinstance(rule, ast.Call) and source.name(rule.func) == "functools.partial" and len(rule.args) == 1
    made = source.project.resolve(source, rule.args[0] if bound and isinstance(rule, ast.Call) else rule)
    if not isinstance(made, project.Function) or made.source is not source:
        return "", None
    first = [one for one in made.node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    names = [one.arg for one in tree.parameters(made.node) if one.arg not in given | {"self"}]
    if len(names) == 1 and isinstance(first[0], ast.If) and _below(first[0].test, names[0]):
        first = first[0].body
    last = first[0] if len(names) == 1 else None
    return names[0] if last is not None else "", last.value if isinstance(last, ast.Return) else None


def _below(test: ast.expr, name: str) -> bool:
    """`epoch < warmup`, which is so for the first one."""
    asked = isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == name
    return (
        asked
        and isinstance(test, ast.Compare)
        and isinstance(test.ops[0], ast.Lt | ast.LtE)
        and len(test.ops) == 1
        and tree.literal(test.comparators[0]) != 0
    )


def _by_epoch(source: Source, call: ast.Call) -> bool:
    """Whether the scheduler steps once an epoch: its loop holds another one, or counts epochs."""
    held = source.parents[call]
    owner = identity.identity(source, held.targets[0]) if isinstance(held, ast.Assign) else None
    for loop in flow.loops(source):
        if owner is None or all(event.owner != owner for event in loop.direct("schedule")):
            continue
        counted = isinstance(loop.node, ast.For) and _EPOCH.match(tree.dotted(loop.node.target))
        return bool(counted) or any(event.loops[-1] is not loop.node for event in loop.of("step"))
    return False


def _is_zero(source: Source, node: ast.expr, name: str) -> bool:
    """Whether the expression is surely 0 where `name` is."""
    if isinstance(node, ast.Call) and source.name(node.func) in ("min", "max", "float"):
        given = [_is_zero(source, one, name) for one in node.args]
        return any(given) if source.name(node.func) == "min" else bool(given) and all(given)
    if isinstance(node, ast.IfExp):
        return _below(node.test, name) and _is_zero(source, node.body, name)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Mult | ast.FloorDiv):
        left = _is_zero(source, node.left, name)
        return left or (isinstance(node.op, ast.Mult) and _is_zero(source, node.right, name))
    return (isinstance(node, ast.Name) and node.id == name) or tree.literal(node) == 0
