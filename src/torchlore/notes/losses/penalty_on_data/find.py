"""The rule of penalty-on-data."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, edits, flow, follow, scopes, tensors, terms, tree, uses
from torchlore.check.source import Hit, Source

_SIZES = {"numel", "nelement", "size", "shape", "element_size", "dim", "ndim", "dtype", "device", "is_cuda"}
_TURNS = (ast.For, ast.AsyncFor, ast.comprehension)
_OVER = {"parameters", "named_parameters"}
WORDS = ("parameters|named_parameters",)


def find(source: Source) -> Iterator[Hit]:
    if "parameters(" not in source.text:
        return
    yield from _rewarded(source)
    if not any(isinstance(source.parents[one], _TURNS) for one in source.methods(*_OVER)):
        return
    for plain in _unsigned(source):
        total = _total(source, plain)
        if (total is not None and _in_a_loss(source, total)) or _handed_on(source, plain, total):
            told = f"`{source.code(plain)}` gets smaller as weights get more negative, so this drives them down without end: write `.abs().sum()` or `.pow(2).sum()`"
            yield source.hit(plain, told)
    for cut in _cuts(source):
        total = _total(source, cut)
        if (total is not None and _in_a_loss(source, total)) or _handed_on(source, cut, total):
            message = (
                f"`{source.code(cut)}` has no history, so this penalty sends no gradient to any weight: leave it out"
            )
            fix = [edits.replace(source, cut, source.code(cut.value))] if isinstance(cut, ast.Attribute) else []
            yield source.hit(cut, message, *fix)


def _rewarded(source: Source) -> Iterator[Hit]:
    """`loss = fit - strength * penalty(model)`: large weights are what makes it small."""
    for call in source.methods("backward"):
        for term, sign in terms.terms(source, tree.receiver(call)):
            parts = [term.left, term.right] if isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult) else [term]
            if sign < 0 and any(_is_size(source, one) for one in parts):
                told = (
                    f"`{source.code(term)}` is taken away from the loss, so the weights grow to make it small: add it"
                )
                yield source.hit(term, told)


def _is_size(source: Source, node: ast.expr) -> bool:
    """`sum(p.pow(2).sum() for p in model.parameters())`, by name or given back by a function of the file."""
    made = follow.followed(source, node)
    inner = flow.called(source, made) if isinstance(made, ast.Call) else None
    back = calls.returned(inner) if inner is not None and inner.source is source else []
    whole = back[0] if len(back) == 1 else made
    over = whole.args[0] if isinstance(whole, ast.Call) and source.name(whole.func) == "sum" and whole.args else None
    if not isinstance(over, ast.GeneratorExp | ast.ListComp):
        return False
    text = source.code(over)
    return (
        ".parameters()" in text
        and re.search(r"\*\* ?2|\.(pow|square|abs|norm)\(|torch\.(abs|norm|square)\(", text) is not None
    )


def _unsigned(source: Source) -> Iterator[ast.Call]:
    """`p.sum()` and `torch.sum(p)` of a parameter that a loop hands out; 0 times that only touches it."""
    for call in (*source.methods("sum", "mean"), *source.calls("torch.sum", "torch.mean")):
        given = call.args[0] if source.name(call.func) and call.args else tree.receiver(call)
        read = isinstance(source.parents[call], ast.Attribute)
        if _is_parameter(source, given) and not read and not _times_nothing(source, call):
            yield call


def _times_nothing(source: Source, call: ast.Call) -> bool:
    text = source.code(tree.statement(source, call))
    return re.search(r"(?<![\w.])0(\.0*)?\s*\*|\*\s*0(\.0*)?(?![\w.])", text) is not None


def _cuts(source: Source) -> Iterator[ast.expr]:
    """`p.data` and `p.detach()` of a parameter that a loop hands out."""
    for node in (*uses.attributes(source, "data"), *uses.attributes(source, "detach")):
        up = source.parents[node]
        if isinstance(up, ast.Attribute) and up.attr in _SIZES:
            continue  # counts weights, whatever is in them
        if node.attr == "data" and isinstance(node.ctx, ast.Load) and _is_parameter(source, node.value):
            yield node
        elif node.attr == "detach" and isinstance(up, ast.Call) and _is_parameter(source, node.value):
            yield up


def _is_parameter(source: Source, node: ast.expr) -> bool:
    found = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    over = [one.value for one in found if one.how in ("for", "comprehension")]
    made = [one for one in over if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)]
    return bool(made) and len(made) == len(found) and all(one.func.attr in _OVER for one in made)  # type: ignore[attr-defined]  # Attributes, see above


def _total(source: Source, cut: ast.expr) -> ast.Name | None:
    """The variable to which the size of the parameter is added."""
    statement = tree.statement(source, cut)
    if tensors.no_grad_around(source, cut):
        return None
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        return statement.target if isinstance(statement.target, ast.Name) else None
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return target if isinstance(target, ast.Name) and _summed(source, cut, statement) else None


def _summed(source: Source, cut: ast.expr, statement: ast.stmt) -> bool:
    """`total = total + ...`, or a sum over a comprehension."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    calls = [up for up in tree.ancestors(source, cut) if isinstance(up, ast.Call)]
    over = any(isinstance(up, tree.Comprehension) for up in tree.ancestors(source, cut))
    named = any(source.name(call.func) in ("sum", "torch.sum", "torch.stack") for call in calls)
    return isinstance(value, ast.BinOp) or (over and named)


def _in_a_loss(source: Source, total: ast.Name) -> bool:
    """Whether the variable is a part of something that is differentiated."""
    home = scopes.scope_of(source, total)
    for call in source.methods("backward"):
        loss = tree.receiver(call)
        if isinstance(loss, ast.Name | ast.BinOp) and scopes.scope_of(source, call) is home:
            summands = [term for term, _ in terms.terms(source, loss)]
            bases = [part for term in summands for part in ast.walk(term)]
            names = {part.id for part in bases if isinstance(part, ast.Name)}
            if total.id in names or _comes_from(summands, total):
                return True
    return False


def _handed_on(source: Source, cut: ast.expr, total: ast.Name | None) -> bool:
    """Whether the function returns the sum, and a call of it is a summand of what is differentiated or returned as a loss."""
    home = tree.function(source, cut)
    if home is None or tensors.no_grad_around(source, cut):
        return False
    given = [one.value for one in tree.under(source, home, ast.Return) if one.value is not None]
    names = {part.id for one in given for part in ast.walk(one) if isinstance(part, ast.Name)}
    inline = any(tree.inside(source, cut, one) and _over_all(source, cut) for one in given)
    if not inline and (total is None or total.id not in names):
        return False
    losses = [tree.receiver(call) for call in source.methods("backward")]
    losses += [one.value for one in source.all(ast.Return) if one.value is not None]
    for loss in losses:
        summands = [term for term, _ in terms.terms(source, loss)]
        for call in (part for term in summands for part in ast.walk(term) if len(summands) > 1):
            inner = flow.called(source, call) if isinstance(call, ast.Call) else None
            if inner is not None and inner.node is home:
                return True
    return False


def _over_all(source: Source, cut: ast.expr) -> bool:
    calls = [up for up in tree.ancestors(source, cut) if isinstance(up, ast.Call)]
    return any(source.name(call.func) in ("sum", "torch.sum", "torch.stack") for call in calls)


def _comes_from(summands: list[ast.expr], total: ast.Name) -> bool:
    """Whether a summand is the very line that adds to the variable."""
    return any(term.lineno == total.lineno for term in summands) and len(summands) > 1
