"""The rule of lr-lambda-returns-rate."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, flow, follow, tree
from torchlore.check.project import Function
from torchlore.check.source import Hit, Source

WORDS = ("LambdaLR",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.optim.lr_scheduler.LambdaLR"):
        rule, rate = tree.argument(call, 1, "lr_lambda"), _rate(source, tree.argument(call, 0, "optimizer"))
        code = source.code(rate) if rate is not None else ""
        for body, names in _bodies(source, rule, _aliases(source, rate)) if rate is not None else []:
            if any(source.code(factor) in names for factor in _factors(source, body)):
                told = f"the function's result is multiplied with `{code}` again: return the factor without `{code}`"
                yield source.hit(body, told)
                break


def _rate(source: Source, optimizer: ast.expr | None) -> ast.expr | None:
    """The name under which the optimizer was given its rate, or a small number."""
    found = [one for one in source.values(optimizer) if one.source is source] if optimizer is not None else []
    made = found[0].node if len(found) == 1 and found[0].kind == "optimizer" else None
    given = tree.argument(made, 1, "lr") if isinstance(made, ast.Call) and _one_rate(source, made) else None
    number = tree.literal(given) if given is not None else None
    small = isinstance(number, float) and number < 0.05
    return given if small or isinstance(given, ast.Name | ast.Attribute | ast.Subscript) else None


def _aliases(source: Source, rate: ast.expr) -> set[str]:
    """The rate by its own name, and as `self.base_lr` or `self.cfg.lr` where the same function keeps `base_lr` or `cfg`."""
    code, root = source.code(rate), tree.dotted(rate).partition(".")[0] or follow.base(rate)
    home = tree.function(source, rate)
    kept: set[str] = set()
    for one in tree.under(source, home, ast.Assign) if home is not None and root != "self" else []:
        target, value = one.targets[0], one.value
        pairs = zip(target.elts, value.elts, strict=False) if _both(target, value) else [(target, value)]  # type: ignore[attr-defined]  # both are tuples
        own = [part for part, given in pairs if isinstance(given, ast.Name) and given.id == root]
        kept |= {source.code(part) + code[len(root) :] for part in own if isinstance(part, ast.Attribute)}
    return {code} | kept


def _both(one: ast.expr, other: ast.expr) -> bool:
    return isinstance(one, ast.Tuple) and isinstance(other, ast.Tuple)


def _one_rate(source: Source, optimizer: ast.Call) -> bool:
    """Whether all parameters get the optimizer's own rate: no groups, and no function that may make some."""
    given = follow.followed(source, optimizer.args[0]) if optimizer.args else tree.argument(optimizer, 0, "params")
    calls = [node for node in ast.walk(given) if isinstance(node, ast.Call)] if given is not None else []
    plain = all(follow.method(one) in ("parameters", "") or source.name(one.func) for one in calls)
    return plain and bool(calls) and not any(isinstance(node, ast.Dict) for one in calls for node in ast.walk(one))


def _named(source: Source, rule: ast.Call, made: Function, rates: set[str]) -> set[str]:
    """What the rate is called in `warmup(lr, 50)`: by its own names, and by the parameter's that gets it."""
    skip = 1 if made.owner is not None else 0
    given = {one.arg: calls.given_argument(made, rule, one, skip) for one in tree.parameters(made.node)}
    return rates | {name for name, value in given.items() if value is not None and source.code(value) in rates}


def _bodies(source: Source, rule: ast.expr | None, rates: set[str]) -> list[tuple[ast.expr, set[str]]]:
    """What the function may return, each with the names that the rate has there."""
    if isinstance(rule, ast.Lambda):
        made = flow.called(source, rule.body) if isinstance(rule.body, ast.Call) else None
        if made is None or made.source is not source or not isinstance(rule.body, ast.Call):
            return [(rule.body, rates)]
        return [(one, _named(source, rule.body, made, rates)) for one in calls.returned(made)]
    made = flow.called(source, rule) if isinstance(rule, ast.Call) else None
    if made is not None and isinstance(rule, ast.Call):  # a function that makes the function
        names = _named(source, rule, made, rates)
        backs = calls.returned(made) if made.source is source else []
        return [body for one in backs if isinstance(one, ast.Lambda | ast.Name) for body in _bodies(source, one, names)]
    found = []
    for function in _functions(source, rule):
        names = rates | _defaulted(function, rates)
        returns = [one for one in tree.body_nodes(function) if isinstance(one, ast.Return)]
        found += [(one.value, names) for one in returns if one.value is not None]
    return found


def _defaulted(function: tree.FunctionNode, rates: set[str]) -> set[str]:
    """What the rate is called where a parameter has it, or the object that has it, as its default: `def f(step, cfg=Config)`."""
    given = function.args
    last = [*given.posonlyargs, *given.args][-len(given.defaults) or None :]
    pairs = [*zip(last, given.defaults, strict=False), *zip(given.kwonlyargs, given.kw_defaults, strict=False)]
    held = [(one.arg, tree.dotted(value)) for one, value in pairs if value is not None and tree.dotted(value)]
    return {name + rate[len(of) :] for name, of in held for rate in rates if f"{rate}.".startswith(f"{of}.")}


def _functions(source: Source, rule: ast.expr | None) -> list[tree.FunctionNode]:
    """The function of this name, or the method that `self` has."""
    name = rule.id if isinstance(rule, ast.Name) else ""
    home = (
        tree.class_of(source, rule) if isinstance(rule, ast.Attribute) and tree.dotted(rule.value) == "self" else None
    )
    if isinstance(rule, ast.Attribute) and home is not None:
        return [one for one in home.body if isinstance(one, tree.FunctionNode) and one.name == rule.attr]
    return [one for one in flow.functions(source) if one.name == name]


def _factors(source: Source, node: ast.expr, hops: int = 5) -> list[ast.expr]:
    """What the result is a product of, or the larger or smaller of two results is."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(source, node.left, hops), *_factors(source, node.right, hops)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return (
            [node.left] if isinstance(node.left, ast.Name) else _factors(source, node.left, hops)
        )  # `low / lr` is a share
    if isinstance(node, ast.IfExp):
        return [*_factors(source, node.body, hops), *_factors(source, node.orelse, hops)]
    if isinstance(node, ast.Call) and source.name(node.func) in ("max", "min"):
        parts = [one for one in node.args if not isinstance(one, ast.Constant)]  # a floor may happen to be the rate
        return [one for part in parts for one in _factors(source, part, hops)]
    made = [one for one in follow.possible(source, node) if one is not node] if hops else []
    return [node, *(factor for one in made for factor in _factors(source, one, hops - 1))]
