"""The rule of batches-overlap."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, edits, follow, scopes, tree
from torchlore.check.pattern import regex
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_SIZE = regex(r"^(\w+_)?(batch(_?si?ze?)?|bs|bsz|bsize)$", re.IGNORECASE)
_WHOLE = {"int", "ceil", "floor", "round"}
_COUNT = regex(
    r"^(n|num|number_of|n_of|total|max)_?(\w+_)?batch(es)?(_\w+)?$|^(\w+_)?batches_per_epoch$", re.IGNORECASE
)
WORDS = ("range",)


def find(source: Source) -> Iterator[Hit]:
    if "range(" not in source.text or "torch" not in source.text:
        return
    for cut in source.all(ast.Slice):
        index, size = cut.lower, cut.upper.right if isinstance(cut.upper, ast.BinOp) else None
        plain = isinstance(index, ast.Name) and isinstance(cut.upper, ast.BinOp) and isinstance(cut.upper.op, ast.Add)
        if not plain or size is None or cut.step is not None or not isinstance(index, ast.Name):
            continue
        same = isinstance(cut.upper, ast.BinOp) and tree.dotted(cut.upper.left) == index.id
        if same and _SIZE.match(_last(size)) and (loop := _turns(source, index, size)) is not None:
            cuts = [one for one in tree.under(source, loop, ast.Slice) if _is_alike(one, cut)]
            if cuts[0] is not cut:
                continue
            name, n = index.id, source.code(size)
            way = [edits.replace(source, one, f"{name} * {n} : ({name} + 1) * {n}") for one in cuts]
            told = f"`{name}` moves by one and not by a batch, so these batches overlap and most samples are never seen"
            yield source.hit(cut, f"{told}: write `{way[0].text}`", *way)


def _last(node: ast.expr) -> str:
    """`batch_size` of `self.args.batch_size`."""
    return tree.dotted(node).rpartition(".")[2]


def _is_alike(one: ast.Slice, cut: ast.Slice) -> bool:
    return ast.dump(one) == ast.dump(cut)


def _turns(source: Source, index: ast.Name, size: ast.expr) -> ast.For | None:
    """The loop `for index in range(batches)`, where `batches` is as many as there are batches."""
    bound = scopes.reaching(source, index)
    loop = bound[0].statement if len(bound) == 1 and bound[0].how == "for" else None
    over = loop.iter if isinstance(loop, ast.For) and tree.dotted(loop.target) == index.id else None
    while isinstance(over, ast.Call) and _last(over.func) in ("tqdm", "trange", "track") and over.args:
        over = over.args[0]
    counted = isinstance(over, ast.Call) and source.name(over.func) == "range" and len(over.args) == 1
    if not counted or not isinstance(over, ast.Call) or not isinstance(loop, ast.For):
        return None
    return loop if _counts_batches(source, over.args[0], _last(size)) else None


def _counts_batches(source: Source, stop: ast.expr, size: str, hops: int = 3) -> bool:
    """`len(x) // batch_size`, `int(n / batch_size)`, a name for it, or a name that says so: `num_batches`."""
    made = follow.followed(source, stop)
    while isinstance(made, ast.Call) and len(made.args) == 1 and source.name(made.func).rpartition(".")[2] in _WHOLE:
        made = made.args[0]
    if isinstance(made, ast.Call) and source.name(made.func) in ("max", "min") and hops:
        return any(isinstance(one, ast.BinOp) and _counts_batches(source, one, size, hops - 1) for one in made.args)
    if isinstance(made, ast.Call) and source.name(made.func) == "len":
        return False  # of a list of starts, or of the samples
    if isinstance(made, ast.BinOp) and isinstance(made.op, ast.Add) and tree.literal(made.right) == 1 and hops:
        return _counts_batches(source, made.left, size, hops - 1)
    if isinstance(made, ast.BinOp):
        return isinstance(made.op, ast.FloorDiv | ast.Div) and _last(made.right) == size
    given = _given(source, stop) if isinstance(stop, ast.Name) and hops else []
    if given:
        return all(_counts_batches(caller, one, size, hops - 1) for caller, one in given)
    return _COUNT.match(_last(stop)) is not None


def _given(source: Source, name: ast.Name) -> list[tuple[Source, ast.expr]]:
    """What the callers give a parameter."""
    bound, home = scopes.reaching(source, name), tree.function(source, name)
    arg = next((one for one in tree.parameters(home) if one.arg == name.id), None) if home is not None else None
    if home is None or arg is None or [one.how for one in bound] != ["parameter"]:
        return []
    own = as_function(source, home)
    found = ((caller, calls.given_argument(own, call, arg, skip)) for caller, call, skip in calls.callers(own))
    return [(caller, one) for caller, one in found if one is not None]
