"""The rule of gradient-penalty-without-graph."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, edits, tree
from torchlore.check.pattern import regex
from torchlore.check.project import Function, as_function
from torchlore.check.source import Hit, Source

_NAME = regex(r"penalt|(?:^|_)gp(?:_|$)|(?:^|_)r1(?:_|$)|lipschitz|regulari[sz]", re.IGNORECASE)
WORDS = ("grad",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.autograd.grad"):
        given = tree.argument(call, 4, "create_graph")
        off = tree.lacks(call, 4, "create_graph") or (given is not None and tree.literal(given) is False)
        if not off:
            yield from _left_to_callers(source, call, given)
            continue
        penalty, _ = _fate(source, call)
        if (penalty or any(_penalised(source, call))) and not _no_grad(source, call):
            placed = given is not None and given in call.args
            edit = (
                edits.replace(source, given, "True")
                if placed and given is not None
                else edits.set_keyword(source, call, "create_graph", "True")
            )
            message = (
                "these gradients have no history, so a penalty made of them reaches no weight: add `create_graph=True`"
            )
            yield source.hit(call, message, edit)


def _no_grad(source: Source, node: ast.AST) -> bool:
    return any("no_grad" in source.code(one) for one in tree.contexts(source, node))


def _penalised(source: Source, call: ast.Call) -> Iterator[tuple[Function, ast.Call, int]]:
    """The calls in this file of the function that hands the gradients back, where they end in a penalty."""
    home = tree.function(source, call)
    function = as_function(source, home) if home is not None and _fate(source, call)[1] else None
    for caller, site, skip in calls.callers(function) if function is not None else ():
        if function is not None and caller is source and _fate(source, site)[0] and not _no_grad(source, site):
            yield function, site, skip


def _left_to_callers(source: Source, call: ast.Call, given: ast.expr | None) -> Iterator[Hit]:
    """`def slopes(critic, x, **kw): ... autograd.grad(critic(x).sum(), x, **kw)`, called without `create_graph=True`."""
    spread = {tree.dotted(one.value) for one in call.keywords if one.arg is None}
    for function, site, skip in _penalised(source, call):
        args = function.node.args
        own = next((one for one in tree.parameters(function.node) if one.arg == tree.dotted(given or call.func)), None)
        if given is None:
            off = args.kwarg is not None and spread == {args.kwarg.arg} and tree.lacks(site, None, "create_graph")
        else:
            off = own is not None and _is_off(function, site, own, skip)
        if off and not any(isinstance(one, ast.Starred) for one in call.args):
            name = "create_graph" if own is None else own.arg
            told = f"these gradients have no history, so a penalty made of them reaches no weight: add `{name}=True`"
            fix = [edits.set_keyword(source, site, name, "True")] if tree.lacks(site, None, name) else []
            yield source.hit(site, told, *fix)


def _is_off(function: Function, site: ast.Call, arg: ast.arg, skip: int) -> bool:
    """Whether a call gives False for a parameter, or leaves it at that."""
    given = calls.given_argument(function, site, arg, skip)
    if given is None and not tree.spread(site):
        given = calls.default_of(function, arg)
    return given is not None and tree.literal(given) is False


def _fate(source: Source, call: ast.Call) -> tuple[bool, bool]:
    """Whether the gradients end in something called a penalty, and whether what is made of them is handed back."""
    home = tree.function(source, call)
    known, penalty, back = _targets(tree.statement(source, call)), False, False
    inside = tree.body_nodes(home) if home is not None else source.all(ast.Assign, ast.AugAssign, ast.Return, ast.For)
    for node in sorted((one for one in inside if isinstance(one, ast.stmt)), key=lambda one: one.lineno):
        if node.lineno < call.lineno or (home is None and tree.function(source, node) is not None):
            continue
        value = node.iter if isinstance(node, ast.For) else getattr(node, "value", None)
        if not isinstance(value, ast.expr) or not (
            _names(value) & known or any(one is call for one in ast.walk(value))
        ):
            continue
        if any(isinstance(one, ast.Attribute) and one.attr in ("item", "detach", "sign") for one in ast.walk(value)):
            continue
        found = _targets(node)
        known |= found
        named = any(_NAME.search(one) for one in found) or (isinstance(node, ast.Return) and _from_one(source, value))
        penalty = (
            penalty or named or (isinstance(node, ast.Return) and home is not None and bool(_NAME.search(home.name)))
        )
        back = back or isinstance(node, ast.Return)
    return penalty, back


def _from_one(source: Source, value: ast.expr) -> bool:
    """`((grad.norm(2, dim=1) - 1) ** 2).mean()`: how far the gradients' lengths are from 1."""
    gaps = [one for one in tree.under(source, value, ast.BinOp) if isinstance(one.op, ast.Sub)]
    return any(tree.literal(one.right) in (1, 1.0) and "norm" in source.code(one.left) for one in gaps)


def _targets(node: ast.stmt) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {name for one in targets if one is not None for name in _names(one)}


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
