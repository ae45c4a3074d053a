"""The rule of decayed-twice."""

import ast
from collections.abc import Iterator

from torchlore.check import averages, identity, tree, uses
from torchlore.check.calls import callers, given_argument
from torchlore.check.pattern import regex
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_SQUARED = regex(
    r"\*\* *2\b|\.pow\(2\)|\.square\(|\.norm\((?:p=)?2?\)|torch\.norm\(\w+(?:, *(?:p=)?2)?\)|linalg\.norm\(\w+\)"
)
WORDS = ("weight_decay", "parameters")


def find(source: Source) -> Iterator[Hit]:
    if not any(uses.keywords(source, "weight_decay")):
        return
    decayed = {owner: call for call in _decaying(source) for owner in _owners(source, call)}
    if not decayed or not _SQUARED.search(source.text):
        return
    for walk in source.methods("parameters", "named_parameters"):
        where = _penalty(source, walk)
        net = tree.receiver(walk)
        asked = _by_method(source, walk) if where is None else None
        where, net = (asked, tree.receiver(asked)) if asked is not None else (where, net)
        where, net = _by_function(source, walk) or (where, net) if where is None else (where, net)
        owner = identity.identity(source, net) if where is not None else None
        if where is not None and owner in decayed:
            name = source.code(net)
            told = (
                f"this penalty decays the weights of `{name}`, and so does weight_decay in line {decayed[owner].lineno}"
            )
            yield source.hit(where, f"{told}: take one of them")


def _decaying(source: Source) -> Iterator[ast.Call]:
    for call, _ in uses.calls_under(source, "torch.optim."):
        given = tree.argument(call, None, "weight_decay")
        decay = averages.number(source, given) if given is not None else None
        if decay is not None and decay > 0:
            yield call


def _owners(source: Source, call: ast.Call) -> Iterator[object]:
    """The modules whose parameters an optimizer is given whole."""
    given = call.args[0] if call.args else None
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "parameters":
        owner = identity.identity(source, given.func.value)
        if owner is not None:
            yield owner


def _penalty(source: Source, walk: ast.Call) -> ast.AST | None:
    """The sum of squares over these parameters that goes into a loss, or None."""
    up = source.parents[walk]
    if isinstance(up, ast.comprehension):
        whole = source.parents[up]
        total = source.parents[whole]
        code = source.code(whole)
        return total if _is_squared(code) and isinstance(total, ast.expr) and _added(source, total) else None
    if not isinstance(up, ast.For) or up.iter is not walk:
        return None
    for node in up.body:
        grown: ast.expr | None = (
            node.target if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) else None
        )
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add):
            grown = node.targets[0]
        if isinstance(grown, ast.Name) and _is_squared(source.code(node)) and _goes_on(source, grown):
            return up
    return None


def _by_method(source: Source, walk: ast.Call) -> ast.Call | None:
    """`net.l2()` as a term of a sum, where the method gives back the squares of all of `self.parameters()`."""
    home, up = tree.function(source, walk), source.parents[walk]
    whole = source.parents[up] if isinstance(up, ast.comprehension) else None
    back = next((one for one in tree.ancestors(source, walk) if isinstance(one, ast.Return)), None)
    if home is None or whole is None or back is None or tree.dotted(tree.receiver(walk)) != "self":
        return None
    if not _is_squared(source.code(whole)):
        return None
    found = [one for at, one, _ in callers(as_function(source, home)) if at is source and _added(source, one)]
    return found[0] if found else None


def _by_function(source: Source, walk: ast.Call) -> tuple[ast.Call, ast.expr] | None:
    """`penalty(net)` as a term of a sum, and the net, where the function gives back the squares of all it is handed."""
    home, up, part = tree.function(source, walk), source.parents[walk], tree.receiver(walk)
    whole = source.parents[up] if isinstance(up, ast.comprehension) else None
    back = next((one for one in tree.ancestors(source, walk) if isinstance(one, ast.Return)), None)
    if (
        home is None
        or whole is None
        or back is None
        or not isinstance(part, ast.Name)
        or not _is_squared(source.code(whole))
    ):
        return None
    arg = next((one for one in tree.parameters(home) if one.arg == part.id), None)
    function = as_function(source, home)
    for at, call, skip in callers(function) if arg is not None else ():
        net = given_argument(function, call, arg, skip) if arg is not None else None
        if at is source and net is not None and _added(source, call):
            return call, net
    return None


def _is_squared(code: str) -> bool:
    return _SQUARED.search(code) is not None and "grad" not in code and "-" not in code.replace("e-", "")


def _added(source: Source, node: ast.expr, hops: int = 3) -> bool:
    """Whether it is a term of a sum, at once or by its name."""
    up = source.parents[node]
    while isinstance(up, ast.BinOp) and isinstance(up.op, ast.Mult | ast.Div | ast.Pow):
        up = source.parents[up]
    if isinstance(up, ast.Assign) and isinstance(up.targets[0], ast.Name):
        return hops > 0 and _goes_on(source, up.targets[0], hops - 1)
    return (isinstance(up, ast.BinOp) and isinstance(up.op, ast.Add)) or isinstance(up, ast.AugAssign)


def _goes_on(source: Source, name: ast.Name, hops: int = 3) -> bool:
    """Whether it is a loss, or is read later as a term of a sum."""
    home = tree.function(source, name)
    later = [
        one for one in uses.names(source, name.id) if tree.function(source, one) is home and one.lineno > name.lineno
    ]
    backward = any(isinstance(up := source.parents[one], ast.Attribute) and up.attr == "backward" for one in later)
    return backward or any(_added(source, one, hops) for one in later if isinstance(one.ctx, ast.Load))
