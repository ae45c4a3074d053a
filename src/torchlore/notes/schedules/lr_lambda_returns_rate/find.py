"""The rule of lr-lambda-returns-rate."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, flow, follow, tree
from torchlore.check.source import Hit, Source


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.optim.lr_scheduler.LambdaLR"):
        rule, rate = tree.argument(call, 1, "lr_lambda"), _rate(source, tree.argument(call, 0, "optimizer"))
        names = _named(source, rule, rate) if rate else set()
        for body in _bodies(source, rule) if rate else []:
            if any(source.code(factor) in names for factor in _factors(source, body)):
                told = f"the function's result is multiplied with `{rate}` again: return the factor without `{rate}`"
                yield source.hit(body, told)
                break


def _rate(source: Source, optimizer: ast.expr | None) -> str:
    """The name under which the optimizer was given its rate; "" for a number."""
    found = [one for one in source.values(optimizer) if one.source is source] if optimizer is not None else []
    made = found[0].node if len(found) == 1 and found[0].kind == "optimizer" else None
    given = tree.argument(made, 1, "lr") if isinstance(made, ast.Call) and _one_rate(source, made) else None
    number = tree.literal(given) if given is not None else None
    small = isinstance(number, float) and number < 0.05
    return source.code(given) if small or isinstance(given, ast.Name | ast.Attribute | ast.Subscript) else ""  # type: ignore[arg-type]  # small: it is there


def _one_rate(source: Source, optimizer: ast.Call) -> bool:
    """Whether all parameters get the optimizer's own rate: no groups, and no function that may make some."""
    given = follow.followed(source, optimizer.args[0]) if optimizer.args else tree.argument(optimizer, 0, "params")
    calls = [node for node in ast.walk(given) if isinstance(node, ast.Call)] if given is not None else []
    plain = all(follow.method(one) in ("parameters", "") or source.name(one.func) for one in calls)
    return plain and bool(calls) and not any(isinstance(node, ast.Dict) for one in calls for node in ast.walk(one))


def _named(source: Source, rule: ast.expr | None, rate: str) -> set[str]:
    """What the rate is called: by its own name, and in `warmup(lr, 50)`, which makes the function, by its parameter's."""
    made = flow.called(source, rule) if isinstance(rule, ast.Call) else None
    args = tree.parameters(made.node) if made is not None and isinstance(rule, ast.Call) else []
    skip = 1 if made is not None and made.owner is not None else 0
    given = {
        one.arg: calls.given_argument(made, rule, one, skip) for one in args if made and isinstance(rule, ast.Call)
    }
    return {rate} | {name for name, value in given.items() if value is not None and source.code(value) == rate}


def _bodies(source: Source, rule: ast.expr | None) -> list[ast.expr]:
    if isinstance(rule, ast.Lambda):
        return [rule.body]
    made = flow.called(source, rule) if isinstance(rule, ast.Call) else None
    if made is not None:  # a function that makes the function
        backs = calls.returned(made) if made.source is source else []
        return [body for one in backs if isinstance(one, ast.Lambda | ast.Name) for body in _bodies(source, one)]
    found = [one for one in flow.functions(source) if isinstance(rule, ast.Name) and one.name == rule.id]
    returns = [one for function in found for one in tree.body_nodes(function) if isinstance(one, ast.Return)]
    return [one.value for one in returns if one.value is not None]


def _factors(source: Source, node: ast.expr) -> list[ast.expr]:
    """What the result is a product of, or the larger or smaller of two results is."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(source, node.left), *_factors(source, node.right)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return [node.left] if isinstance(node.left, ast.Name) else _factors(source, node.left)  # `low / lr` is a share
    if isinstance(node, ast.IfExp):
        return [*_factors(source, node.body), *_factors(source, node.orelse)]
    if isinstance(node, ast.Call) and source.name(node.func) in ("max", "min"):
        return [one for part in node.args for one in _factors(source, part)]
    made = follow.binding(source, node)
    return [node, *(_factors(source, made) if made is not None else [])]
