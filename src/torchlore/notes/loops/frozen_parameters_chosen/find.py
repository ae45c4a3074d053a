"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree, uses
from torchlore.check.source import Hit, Source

WORDS = ("requires_grad|requires_grad_",)


def find(source: Source) -> Iterator[Hit]:
    for call, _ in uses.calls_under(source, "torch.optim."):
        given = tree.argument(call, 0, "params")
        chosen = _chosen(source, given) if given is not None else None
        if chosen is not None:
            yield source.hit(chosen, "this chooses the frozen parameters, and none of them moves: leave out the `not`")
        elif given is not None and (part := _just_frozen(source, call, given)):
            told = f"`{part}` was frozen above, and this optimizer gets nothing else, so nothing moves: give it what is to be trained"
            yield source.hit(call, told, severity="warning")


def _just_frozen(source: Source, call: ast.Call, given: ast.expr) -> str:
    """`net.features` of `SGD(net.features.parameters())`, where the same function has switched it off before."""
    part = tree.receiver(given) if isinstance(given, ast.Call) and follow.method(given) == "parameters" else None
    name, home = tree.dotted(part) if part is not None else "", tree.function(source, call)
    if (
        not name
        or sum(
            one is home
            for one in (tree.function(source, other) for other, _ in uses.calls_under(source, "torch.optim."))
        )
        != 1
    ):
        return ""
    inner = [
        one
        for one in source.all(ast.Attribute)
        if tree.dotted(one).startswith(f"{name}.") and isinstance(one.ctx, ast.Store)
    ]
    again = any(
        tree.dotted(tree.receiver(one)).startswith(f"{name}.")
        for one in source.methods("requires_grad_", "parameters", "train")
    )
    if "." not in name or inner or again or tree.conditions(source, call):
        return ""  # a new head, or a part that is set free
    switched = [*_set(source, name, home)]
    before = [flag for line, flag in switched if line < call.lineno]
    after = any(flag for line, flag in switched if line > call.lineno)
    return name if before and not before[-1] and not after else ""


def _set(source: Source, name: str, home: tree.FunctionNode | None) -> Iterator[tuple[int, bool]]:
    """Where a function sets the flag of all parameters of a part, and to what."""
    for one in source.methods("requires_grad_"):
        flag = tree.literal(one.args[0]) if one.args else True
        mine = tree.function(source, one) is home and tree.dotted(tree.receiver(one)) == name
        if mine and isinstance(flag, bool):
            yield one.lineno, flag or bool(tree.conditions(source, one))
    for use in uses.attributes(source, "requires_grad"):
        held, loop = source.parents[use], next(iter(tree.loops(source, use)), None)
        flag = tree.literal(held.value) if isinstance(held, ast.Assign) else None
        over = loop.iter if isinstance(loop, ast.For) and tree.function(source, loop) is home else None
        whole = isinstance(over, ast.Call) and follow.method(over) == "parameters" and isinstance(flag, bool)
        if whole and isinstance(over, ast.Call) and tree.dotted(tree.receiver(over)) == name:
            yield use.lineno, bool(flag) or bool(tree.conditions(source, use))


def _chosen(source: Source, given: ast.expr) -> ast.expr | None:
    """`not p.requires_grad` of a filter or a comprehension."""
    if isinstance(given, ast.Call) and source.name(given.func) in ("list", "filter") and given.args:
        if source.name(given.func) == "list":
            return _chosen(source, given.args[0])
        test = given.args[0].body if isinstance(given.args[0], ast.Lambda) else None
    elif isinstance(given, ast.ListComp | ast.GeneratorExp) and len(given.generators[0].ifs) == 1:
        test = given.generators[0].ifs[0]
    else:
        return None
    turned = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    held = test.operand if isinstance(test, ast.UnaryOp) and turned else None
    return test if isinstance(held, ast.Attribute) and held.attr == "requires_grad" else None
