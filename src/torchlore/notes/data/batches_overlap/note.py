"""`x[i : i + batch_size]` for i in range(batches) moves by one sample, not by a batch.

`for i in range(len(x) // batch_size): x[i : i + batch_size]` looks like batches. It gives samples 0 to 31, then 1 to 32, then 2
to 33: neighbours share all but one sample, and with 1000 samples and batches of 32 the last sample ever seen is number 61. The
shapes are right and the loss falls, on six percent of the data.

Let the index move by a batch: `for i in range(0, len(x), batch_size)`, or cut `x[i * batch_size : (i + 1) * batch_size]`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, edits, follow, scopes, tree
from torchlore.check.pattern import regex
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/cmergny/time-series-forecasting",)
TORCH = "2.15"
NEEDS = ()
SEVERITY = "warning"

_SIZE = regex(r"^(\w+_)?(batch(_?si?ze?)?|bs|bsz|bsize)$", re.IGNORECASE)
_COUNT = regex(
    r"^(n|num|number_of|n_of|total|max)_?(\w+_)?batch(es)?(_\w+)?$|^(\w+_)?batches_per_epoch$", re.IGNORECASE
)


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
    """`len(x) // batch_size`, `int(n / batch_size)`, a name for it, or a name that says so."""
    made = follow.followed(source, stop)
    while isinstance(made, ast.Call) and len(made.args) == 1 and source.name(made.func).rpartition(".")[2] in _WHOLE:
        made = made.args[0]
    if isinstance(made, ast.BinOp) and isinstance(made.op, ast.FloorDiv | ast.Div):
        return _last(made.right) == size
    if isinstance(made, ast.BinOp) and isinstance(made.op, ast.Add) and tree.literal(made.right) == 1:
        return _counts_batches(source, made.left, size, hops - 1) if hops else False
    if not isinstance(stop, ast.Name):
        return False
    bound = scopes.reaching(source, stop)
    home = tree.function(source, stop)
    if len(bound) != 1 or bound[0].how != "parameter" or home is None or not hops or not _COUNT.match(stop.id):
        return False
    own = as_function(source, home)
    arg = next((one for one in tree.parameters(home) if one.arg == stop.id), None)
    given = [
        (caller, calls.given_argument(own, call, arg, skip))
        for caller, call, skip in calls.callers(own)
        if arg is not None
    ]
    return bool(given) and all(
        one is not None and _counts_batches(caller, one, size, hops - 1) for caller, one in given
    )


_WHOLE = {"int", "ceil", "floor", "round"}


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["seen"] < 100
    assert good["seen"] > 900
