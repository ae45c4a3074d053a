"""The rule of loop-variable-rebound."""

import ast
from collections.abc import Iterator
from typing import cast

from torchlore.check import follow, loaders, tree, uses, values
from torchlore.check.source import Hit, Source

_GIVERS = frozenset({"parameters", "named_parameters", "buffers", "named_buffers"})
_COPIES = frozenset({"clone", "detach", "copy", "cpu"})
_MOVES = frozenset({"to", "cuda", "cpu", "float", "half", "clamp", "detach"})


def find(source: Source) -> Iterator[Hit]:
    for loop in source.all(ast.For):
        assigns = list(_assigns(loop.body))
        names = _names(loop.target) if assigns else set()
        given = bool(assigns) and _gives_tensors(loop.iter)
        for place, assign in enumerate(assigns):
            name = assign.targets[0]
            if not isinstance(name, ast.Name) or name.id not in names:
                continue
            read = given and any(_reads(assign.value, one) for one in names)
            other = _pairs(loop.iter) and _other(assign, names)
            moved = _is_move(assign.value, name.id) and not _is_batch(loop)
            if not read and not other and not moved:
                continue
            before = [one for one in assigns[:place] if not follow.exclusive(source, one, assign)]
            if _in_place(assign.value) or any(source.code(one.targets[0]) == name.id for one in before):
                continue  # moved, used and moved back: the last is needless, not wrong
            if _read_later(source, loop, assign, name.id):
                continue
            sure = _moved(source, assign.value) if moved else None
            moved = sure is not None
            if read or other or moved:
                message = f"`{name.id} = ...` gives the loop's name a new tensor and changes nothing: write into it in place, or collect the results"
                yield source.hit(assign, message, severity="warning" if moved and not sure else None)


def _names(target: ast.expr) -> set[str]:
    """The names that a loop binds."""
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    plain = all(isinstance(one, ast.Name) for one in parts)
    return {one.id for one in (parts if plain else ast.walk(target)) if isinstance(one, ast.Name)}


def _assigns(body: list[ast.stmt]) -> Iterator[ast.Assign]:
    """The assignments of a turn, those under an `if` too."""
    for one in body:
        if isinstance(one, ast.Assign):
            yield one
        elif isinstance(one, ast.If | ast.With):
            yield from _assigns(one.body)
            yield from _assigns(one.orelse if isinstance(one, ast.If) else [])


def _other(assign: ast.Assign, names: set[str]) -> bool:
    """`param = ema_param` for the pairs of a loop: the name moves on, and the first one stays as it was."""
    value = assign.value
    while tree.dotted(value).endswith(".data") or (isinstance(value, ast.Call) and follow.method(value) in _COPIES):
        value = tree.receiver(value) if isinstance(value, ast.Call) else cast("ast.Attribute", value).value
    return isinstance(value, ast.Name) and value.id in names and value.id != tree.dotted(assign.targets[0])


def _pairs(walked: ast.expr) -> bool:
    """`zip(a, b)`, `x.items()`, counted or not; the parts of a batch are no pairs, and one may stand in for another."""
    if not isinstance(walked, ast.Call):
        return False
    name = follow.method(walked) or tree.dotted(walked.func)
    return name in ("zip", "items", *_GIVERS) or (
        name in ("enumerate", "list", "tqdm") and any(map(_pairs, walked.args))
    )


def _in_place(value: ast.expr) -> bool:
    """`p = nn.init.normal_(p)`, `p = p.mul_(2)`: the name stays on the tensor that was written into."""
    func = value.func if isinstance(value, ast.Call) else None
    return (
        isinstance(value, ast.Call)
        and isinstance(func, ast.Attribute)
        and func.attr.endswith("_")
        and isinstance(
            (value.args or [func.value])[0] if tree.dotted(func).startswith(("nn.", "torch.", "init.")) else func.value,
            ast.Name,
        )
    )


def _gives_tensors(walked: ast.expr) -> bool:
    """`x.parameters()`, `x.state_dict().values()`, alone or within `zip`, `enumerate`, `list`."""
    if not isinstance(walked, ast.Call):
        return False
    if isinstance(walked.func, ast.Attribute):
        state = walked.func.attr in ("values", "items") and follow.method(walked.func.value) == "state_dict"
        return state or walked.func.attr in _GIVERS
    inner = isinstance(walked.func, ast.Name) and walked.func.id in ("zip", "enumerate", "list", "reversed")
    return inner and any(_gives_tensors(one) for one in walked.args)


def _is_batch(loop: ast.For) -> bool:
    """`for x, y, domain in loader`: a part of the batch that nobody needs is moved with the others."""
    target, walked = loop.target, loop.iter
    counted = isinstance(walked, ast.Call) and isinstance(walked.func, ast.Name) and walked.func.id == "enumerate"
    if counted and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        target = target.elts[1]
    pairs = isinstance(walked, ast.Call) and follow.method(walked) == "items"
    return isinstance(target, ast.Tuple) and not pairs


def _is_move(value: ast.expr, name: str) -> bool:
    """`t.to(device)` of the loop's own."""
    return follow.method(value) in _MOVES and tree.dotted(cast("ast.Call", value).func).rpartition(".")[0] == name


def _moved(source: Source, value: ast.expr) -> bool | None:
    """Whether it is surely a tensor that is moved; None where it may be a module."""
    owner = tree.receiver(cast("ast.Call", value))
    return values.sure(source, owner, "tensor") or (False if loaders.hands_out(source, owner) else None)


def _reads(node: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load) for one in ast.walk(node))


def _read_later(source: Source, loop: ast.For, assign: ast.Assign, name: str) -> bool:
    """Whether anything reads the new tensor, in this turn or after the loop."""
    home = tree.function(source, loop)
    for use in uses.names(source, name):
        below = isinstance(use.ctx, ast.Load) and use.lineno > (assign.end_lineno or assign.lineno)
        if below and not follow.exclusive(source, use, assign):
            at = tree.function(source, use)
            if at is home and _first_binding(source, loop, use, name):
                return True
            if at is not home and tree.inside(source, use, loop):
                return True
    return False


def _first_binding(source: Source, loop: ast.For, use: ast.Name, name: str) -> bool:
    """Whether the use stands in this loop, or after it without another loop over the same name around it."""
    others = [one for one in tree.loops(source, use) if isinstance(one, ast.For) and one is not loop]
    bound = [one for one in others if any(isinstance(t, ast.Name) and t.id == name for t in ast.walk(one.target))]
    comprehensions = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
    return tree.inside(source, use, loop) or not (
        bound or any(isinstance(up, comprehensions) for up in tree.ancestors(source, use))
    )
