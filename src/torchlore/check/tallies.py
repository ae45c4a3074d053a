"""What a loop over batches adds up, and what the sum is divided by."""

from __future__ import annotations

import ast
import math
import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from torchlore.check import calls, flow, follow, iteration, kept, scopes, tree, values
from torchlore.check.pattern import regex
from torchlore.check.project import Project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlore.check.source import Source

_CASTS = {"float", "double", "type", "to", "int", "long", "cpu", "detach", "numpy", "item", "astype", "half", "cuda", "data",
          "squeeze", "contiguous"}  # fmt: skip
_BENT = {f"sklearn.metrics.{name}" for name in ("f1_score", "precision_score", "recall_score", "fbeta_score", "jaccard_score",
         "roc_auc_score", "average_precision_score", "matthews_corrcoef", "cohen_kappa_score", "balanced_accuracy_score",
         "r2_score")}  # fmt: skip
_RATIO = regex(
    r"(?:^|_)(?:f1|f_?beta|f_?score|precision|recall|mcc|matthews|auc|auroc|kappa)(?:_?score)?(?:_|$)", re.IGNORECASE
)
_CURVED = {f"{home}.{name}" for home in ("math", "numpy", "torch") for name in ("sqrt", "exp")}
_MEANS = ("numpy.mean", "statistics.mean", "numpy.average", "torch.mean")
_GROWS = (ast.AugAssign, ast.Assign, ast.Call)
_LEAST = 30  # characters of `for x in y: a += (b == c).sum()`, so that files without any are left at once
_FEW = regex(r"\+=|\.append\(|\.update\(|\.add\(|\w = \w+ \+ ")  # without one of these nothing is added up
_LOSS = regex(r"(^|_)loss$")
_SPLIT = regex(r"train|valid(?:ation)?|val|dev|test|eval", re.IGNORECASE)
_SIZED = regex(r"^len\(|\.size\(0\)$|\.size\(\)\[0\]$|\.shape\[0\]$|\.numel\(\)$|\.nelement\(\)$")
_COUNTS = regex(r"^len\(\w+\)$|^\w+\.(?:size\(0\)|size\(\)\[0\]|shape\[0\])$")  # how many samples a batch has
_NOMINAL = regex(r"(^|[._\[\"'])(train|test|val|valid|eval|mini)?_?(batch_?size|bsz?)(['\"]\])?$", re.IGNORECASE)

ODD = {
    "last": "`{by}` is the index of the last batch, one less than their number: divide by `{by} + 1`",
    "epochs": "`{name}` holds the sum of one epoch, and `{by}` counts epochs: divide by the number of batches, `len({over})`",
    "another": "`{name}` is a sum over `{over}`, and `{by}` counts another loader: divide by `len({over})`",
}  # what to say about a divisor that is no count of the turns


Quotient = ast.BinOp | ast.AugAssign | ast.Call


class Tally(NamedTuple):
    """One `total += ...` (or `list.append`) in a loop, and the division that follows."""

    loop: ast.For
    over: str  # the text of what the loop goes over
    name: str  # of the sum
    kind: str  # count, mean (of a comparison), loss (of a batch), bent (a score that is no mean of its parts), nominal, weighted, or ""
    node: ast.AST  # where it is added
    division: ast.AST
    by: str  # batches, samples, entries, turns, seen (samples, counted on the way); last (the index of the last turn), epochs, another (another loader's length)

    @property
    def below(self) -> ast.expr | None:
        """The divisor."""
        return self.division.right if isinstance(self.division, ast.BinOp) else getattr(self.division, "value", None)


def tallies(source: Source) -> list[Tally]:
    """Every sum over a loop's turns that is divided afterwards, in the order of the text."""
    found: list[Tally] | None = source.memo.get("tallies")
    if found is None:
        found = source.memo["tallies"] = list(_tallies(source)) if len(source.text) > _LEAST else []
    return found


@lru_cache(maxsize=64)
def seen_at(path: str, line: int) -> list[Tally]:
    """The sums of the loop that begins on a line of a file; nothing where the file cannot be read."""
    project = Project()
    project.add([path])
    source = project.source(path) if os.path.isfile(path) else None  # noqa: PTH113  # a notebook's cell is no file
    return [one for one in tallies(source) if one.loop.lineno == line] if source is not None else []


def _tallies(source: Source) -> Iterator[Tally]:
    for loop in source.all(ast.For):
        over = iteration.unwrapped(source, loop.iter)
        if not isinstance(over, ast.Name | ast.Attribute | ast.Subscript):
            continue
        later = _behind(source, loop)
        for node in tree.under(source, loop, *(_GROWS if later else (ast.Call,))):
            name = _grown(node)
            behind = [one for one, names in later if name in names] if name else []
            if not (behind or (name and isinstance(node, ast.Call))) or not _is_own(source, node, loop):
                continue
            light = _weightless(source, node)
            value = kept.kept(source, node)[1] if (behind or light) and _FEW.search(source.code(loop)) else None
            if value is None:
                continue
            if light:
                yield Tally(loop, source.code(over), name, kind(source, value), node, node, "entries")
            for division, by in _divisions(source, loop, name, behind):
                yield Tally(loop, source.code(over), name, kind(source, value), node, division, by)


def _grown(node: ast.AST) -> str:
    """The name of what a statement or call may add to, by its looks."""
    if isinstance(node, ast.Call):
        return _named(tree.receiver(node)) if kept.may_keep(node) else ""
    return _named(node.targets[0] if isinstance(node, ast.Assign) else node.target)  # type: ignore[attr-defined]  # an AugAssign


def _named(node: ast.AST) -> str:
    """`total`, `self.total` or `stats["total"]`."""
    key = tree.literal(node.slice) if isinstance(node, ast.Subscript) else None
    if isinstance(node, ast.Subscript):
        return f'{tree.dotted(node.value)}["{key}"]' if isinstance(key, str) and tree.dotted(node.value) else ""
    return tree.dotted(node)


def _weightless(source: Source, node: ast.AST) -> bool:
    """`meter.update(mean)` where the method would take a count too, and takes 1 without one."""
    method = (
        flow.called(source, node) if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords else None
    )
    more = method.node.args.defaults if method is not None and len(method.node.args.args) == 3 else []
    return len(more) == 1 and tree.literal(more[0]) == 1


def _is_own(source: Source, node: ast.AST, loop: ast.For) -> bool:
    around = tree.loops(source, node)
    return bool(around) and around[0] is loop


def _behind(source: Source, loop: ast.For) -> list[tuple[Quotient, set[str]]]:
    """What divides or averages something behind the loop, in the same function, each with the names of what it divides."""
    known: dict[Quotient, set[str]] = source.memo.setdefault("tallies.divided", {})
    home = tree.function(source, loop)
    here = (one for some in _quotients(source) for one in tree.among(source, some, home))
    later = [one for one in here if one.lineno > loop.lineno and not tree.inside(source, one, loop)]
    return [(one, known.get(one) or known.setdefault(one, _divided(source, one))) for one in later]


def _divisions(source: Source, loop: ast.For, name: str, behind: list[Quotient]) -> Iterator[tuple[ast.AST, str]]:
    """Those divisions, as long as the name stands for the sum."""
    over = source.code(iteration.unwrapped(source, loop.iter))
    lengths = {f"len({over})": "batches", f"len({over}.dataset)": "samples", f"len({name})": "entries"}
    until = _begins_anew(source, tree.function(source, loop) or source.tree, loop, name) if behind else 0
    for one in (one for one in behind if one.lineno < until):
        if isinstance(one, ast.Call):
            yield one, "entries"
            continue
        below = one.right if isinstance(one, ast.BinOp) else one.value
        by = lengths.get(source.code(follow.followed(source, below)), "") or _of_set(source, below, loop)
        by = by or _odd(source, one, below, loop, name) or _counter(source, below, loop)
        if by:
            yield one, by


def _quotients(source: Source) -> list[list[Quotient]]:
    """What divides or averages something in the file: terms, statements, calls."""
    found: list[list[Quotient]] | None = source.memo.get("tallies.quotients")
    if found is None:
        terms: list[Quotient] = [one for one in source.all(ast.BinOp) if isinstance(one.op, ast.Div)]
        statements: list[Quotient] = [one for one in source.all(ast.AugAssign) if isinstance(one.op, ast.Div)]
        means = {*source.calls(*_MEANS), *source.methods("mean")}
        called: list[Quotient] = [one for one in source.all(ast.Call) if one in means] if means else []
        found = source.memo["tallies.quotients"] = [terms, statements, called]
    return found


def _divided(source: Source, one: Quotient) -> set[str]:
    """The names of what is divided or averaged."""
    if isinstance(one, ast.Call):
        return _averaged(source, one)
    return {_named(part) for part in ast.walk(one.left if isinstance(one, ast.BinOp) else one.target)}


def _begins_anew(source: Source, home: ast.AST, loop: ast.For, name: str) -> float:
    """The line behind the loop on which the name begins a sum of its own, `losses = []`."""
    behind = [one for one in tree.under(source, home, ast.Assign) if one.lineno > (loop.end_lineno or 0)]
    anew = (one for one in behind if name in map(_named, one.targets))
    return min((one.lineno for one in anew if name not in map(_named, ast.walk(one.value))), default=math.inf)


def _of_set(source: Source, below: ast.expr, loop: ast.For) -> str:
    """`len(val_set)`, or a parameter that is given it, where the loop's loader is made of `val_set`: samples."""
    made = [one for one in source.values(iteration.unwrapped(source, loop.iter)) if one.kind == "loader"]
    data = [tree.argument(one.node, 0, "dataset") if isinstance(one.node, ast.Call) else None for one in made]
    sets = {one.source.code(held) for one, held in zip(made, data, strict=True) if held is not None and one.source}
    bound = scopes.reaching(source, below) if isinstance(below, ast.Name) and sets else []
    handed = len(bound) == 1 and bound[0].how == "parameter" and isinstance(bound[0].node, ast.arg)
    given = calls.given(source, bound[0].node) if handed else [(source, below)]  # type: ignore[arg-type]  # a parameter
    told = [where.code(follow.followed(where, one)) for where, one in given if one is not None]
    return "samples" if told and sets and all(one[:4] == "len(" and one[4:-1] in sets for one in told) else ""


def nominal(source: Source, value: ast.expr, loop: ast.For) -> bool:
    """`BATCH`, `args.batch_size`: the size that was asked for, and not that of the batch at hand."""
    if not _NOMINAL.search(source.code(value)) and source.code(value) != "BATCH":
        return False
    root = next((one for one in ast.walk(value) if isinstance(one, ast.Name)), None)  # `batch` of `batch.batch_size`
    bound = scopes.reaching(source, root) if root is not None else []
    fresh = any(one.node is not None and tree.inside(source, one.node, loop) for one in bound)
    return not fresh and not _local_size(source, value)


def _counter(source: Source, below: ast.expr, loop: ast.For) -> str:
    """`n` of `n += 1` in each turn, from 0 before the loop: batches, or samples where a batch is one; of `n += y.size(0)` samples."""
    bound = scopes.reaching(source, below) if isinstance(below, ast.Name) else []
    grown = [one for one in bound if one.how == "aug"]
    start = [one for one in bound if one.how == "assign" and (part := scopes.part(one)) and tree.literal(part) == 0]
    line = grown[0].statement if len(grown) == 1 and len(bound) == 1 + len(start) else None
    if not isinstance(line, ast.AugAssign) or not isinstance(line.op, ast.Add) or line not in loop.body:
        return ""
    return "turns" if tree.literal(line.value) == 1 else "seen" if _COUNTS.search(source.code(line.value)) else ""


def _odd(source: Source, division: ast.AST, below: ast.expr, loop: ast.For, name: str) -> str:
    """A divisor that is no count of the loop's turns: the last index, the number of epochs, another loader's length."""
    if isinstance(below, ast.Name) and below.id == iteration.index(source, loop) and not _breaks(source, loop):
        bound = scopes.reaching(source, below)
        return "last" if bound and all(one.statement is loop for one in bound) else ""
    if isinstance(below, ast.Call):
        return "another" if another(source, below, loop, name) else ""
    outer = next(
        (one for one in tree.loops(source, loop) if isinstance(one, ast.For) and tree.inside(source, division, one)),
        None,
    )
    counted = outer.iter if outer is not None and isinstance(outer.iter, ast.Call) else None
    if outer is None or counted is None or source.name(counted.func) not in ("range", "tqdm.trange"):
        return ""
    epochs = {source.code(counted.args[-1])} if len(counted.args) in (1, 2) else set()
    named = isinstance(below, ast.Name | ast.Attribute | ast.Subscript)  # a number may be there by chance
    learned = f"{name}.backward(" in source.text  # parts of one step, which are added up on purpose
    return (
        "epochs"
        if named and not learned and source.code(below) in epochs and _starts_in(source, name, outer, loop)
        else ""
    )


def another(source: Source, size: ast.Call, loop: ast.For, name: str) -> bool:
    """`len(train_loader)` below what a loop over `val_loader` has added up, where both are loaders made apart."""
    given = size.args[0] if source.name(size.func) == "len" and len(size.args) == 1 else None
    if isinstance(given, ast.Attribute) and given.attr == "dataset":
        given = given.value
    over = iteration.unwrapped(source, loop.iter)
    if given is None or source.code(given) in (source.code(loop.iter), *_choices(source, over)):
        return False
    one, other = (values.made_by(source, node, "torch.utils.data.DataLoader") for node in (given, over))
    apart = one is not None and other is not None and one.node is not other.node
    if not apart and not _other_split(source.code(given), source.code(over)):
        return False
    home = tree.function(source, loop) or source.tree
    added = [node for node in tree.under(source, home, ast.AugAssign) if isinstance(node.op, ast.Add)]  # type: ignore[attr-defined]  # under gives what was asked for
    return not any(tree.dotted(node.target) == name and not tree.inside(source, node, loop) for node in added)  # type: ignore[attr-defined]  # the same


def _choices(source: Source, over: ast.expr) -> list[str]:
    """The loaders one of which `loader` is, where an `if` chooses; the division may stand below the same question."""
    made = follow.possible(source, over) if isinstance(over, ast.Name) else []
    return [source.code(one) for one in made] if len(made) > 1 else []


def _breaks(source: Source, loop: ast.For) -> bool:
    """Whether the loop may end before what it goes over does: then the index says where."""
    return any(tree.loops(source, one)[:1] == [loop] for one in tree.under(source, loop, ast.Break))


def _other_split(one: str, other: str) -> bool:
    """`train_loader` and `val_loader`: the same words but for the split they name."""
    found = [_SPLIT.findall(text) for text in (one, other)]
    named = all(len(words) == 1 for words in found) and "oader" in one
    return named and found[0][0][0] != found[1][0][0] and _SPLIT.sub("", one) == _SPLIT.sub("", other)


def _starts_in(source: Source, name: str, outer: ast.For, loop: ast.For) -> bool:
    """Whether the sum is set to zero in every turn of the outer loop."""
    return any(
        tree.dotted(target) == name and not tree.inside(source, one, loop) and tree.literal(one.value) in (0, 0.0)
        for one in tree.under(source, outer, ast.Assign)
        if isinstance(one, ast.Assign) and one.lineno < loop.lineno
        for target in one.targets
    )


def _averaged(source: Source, call: ast.Call) -> set[str]:
    """`scores` of `np.mean(scores)`, `statistics.mean(scores)`, `torch.tensor(scores).mean()`."""
    if source.name(call.func) in _MEANS:
        return {tree.dotted(call.args[0]), _first(call.args[0])} if call.args else set()
    return {_first(tree.receiver(call))}


def _first(node: ast.expr) -> str:
    return tree.dotted(node.args[0]) if isinstance(node, ast.Call) and node.args else ""


def kind(source: Source, value: ast.expr, hops: int = 3) -> str:
    """What one turn adds."""
    value = _bare(value)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        for other in (value.left, value.right):
            if _SIZED.search(source.code(other)):
                return "weighted"
            if (_NOMINAL.search(source.code(other)) or source.code(other) == "BATCH") and not _local_size(
                source, other
            ):
                return "nominal"
        return ""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
        if _overlaps(source, value.left, ast.BitAnd) and _overlaps(source, value.right, ast.BitOr):
            return "bent"
        part = kind(source, value.left, hops) == "count"
        return "mean" if part and (_SIZED.search(source.code(value.right)) or _local_size(source, value.right)) else ""
    if isinstance(value, ast.Name) and hops:
        bound = scopes.reaching(source, value)
        kinds = {
            kind(source, one.value, hops - 1) for one in bound if one.how == "assign" and not one.path and one.value
        }
        found = kinds.pop() if len(kinds) == 1 and len(bound) == 1 else ""
        return found or ("loss" if _LOSS.search(value.id) and _means(source) else "")
    root = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Pow) and tree.literal(value.right) == 0.5
    if isinstance(value, ast.BinOp) and root:
        return "bent" if kind(source, value.left, hops) == "loss" or _is_mean_loss(source, value.left) else ""
    return _called(source, value, hops) if isinstance(value, ast.Call) else ""


def _overlaps(source: Source, node: ast.expr, joint: type[ast.operator]) -> bool:
    """`(pred & mask).sum()` over a whole batch, or `|` of the two, also by a name for it and in `max(union, 1)`."""
    names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
    for one in (
        part for whole in (node, *(follow.followed(source, name) for name in names)) for part in ast.walk(whole)
    ):
        whole = isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "sum"
        held = _bare(one.func.value) if whole and not one.args and not one.keywords else None  # type: ignore[attr-defined]  # a call
        if isinstance(held, ast.BinOp) and isinstance(held.op, joint):
            return True
    return False


def _is_mean_loss(source: Source, node: ast.expr) -> bool:
    """Whether this is one of torch's losses of a batch."""
    node = _bare(node)
    named = isinstance(node, ast.Name) and (_LOSS.search(node.id) is not None or node.id.endswith("mse"))
    return named or any(value.state == "loss" for value in values.values(source, node))


def _means(source: Source) -> bool:
    """Whether no loss in the file asks for another reduction than the mean."""
    asked = (
        tree.literal(one.value) for one in source.all(ast.keyword) if one.arg in ("reduction", "size_average", "reduce")
    )
    return all(one == "mean" for one in asked)


def _called(source: Source, call: ast.Call, hops: int) -> str:
    name = source.name(call.func)
    if name in _BENT or _is_library_score(name):
        return "bent"
    if name == "sklearn.metrics.accuracy_score":
        return "mean"
    curved = name in _CURVED or (
        not name and isinstance(call.func, ast.Attribute) and call.func.attr in ("sqrt", "exp")
    )
    if curved:
        inside = call.args[0] if call.args else tree.receiver(call)
        return "bent" if _is_mean_loss(source, inside) else ""
    ends = name.rpartition(".")[2] if name in ("torch.sum", "torch.mean", "numpy.sum", "numpy.mean", "sum") else ""
    inner: ast.expr | None = call.args[0] if ends and call.args else None
    if not ends and isinstance(call.func, ast.Attribute) and call.func.attr in ("sum", "mean") and not call.args:
        ends, inner = call.func.attr, call.func.value
    if inner is not None and _is_comparison(source, inner):
        return "count" if ends == "sum" else "mean"
    function = flow.called(source, call) if hops and not ends else None
    backs = [follow.followed(function.source, _bare(one)) for one in calls.returned(function)] if function else []
    if function is not None and _RATIO.search(function.node.name) and any(map(_is_ratio, backs)):
        return "bent"
    kinds = {kind(function.source, one, hops - 1) for one in calls.returned(function)} if function else set()
    return kinds.pop() if len(kinds) == 1 else ""


def _is_library_score(name: str) -> bool:
    """`torchmetrics.functional.f1_score` and its like."""
    return name.startswith("torchmetrics.functional.") and _RATIO.search(name.rpartition(".")[2]) is not None


def _is_ratio(node: ast.expr) -> bool:
    """`2 * tp / (2 * tp + fp + fn)`, `2 * p * r / (p + r)`: a sum stands below."""
    below = node.right if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) else None
    return isinstance(below, ast.BinOp) and isinstance(below.op, ast.Add)


def _bare(value: ast.expr) -> ast.expr:
    """Without `.item()`, `.float()`, `float(...)` and the like, and without `100 *`."""
    while True:
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _CASTS:
            value = value.func.value
        elif isinstance(value, ast.Attribute) and value.attr in _CASTS:
            value = value.value
        elif isinstance(value, ast.Call) and tree.dotted(value.func) in ("float", "int") and value.args:
            value = value.args[0]
        elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult) and 100 in _numbers(value):
            value = value.left if tree.literal(value.right) == 100 else value.right
        else:
            return value


def _numbers(product: ast.BinOp) -> tuple[object, object]:
    return tree.literal(product.left), tree.literal(product.right)


def _is_comparison(source: Source, node: ast.expr, hops: int = 2) -> bool:
    node = _bare(node)
    if isinstance(node, ast.Name) and hops:
        bound = scopes.reaching(source, node)
        return bool(bound) and all(one.value is not None and not one.path and _is_comparison(source, one.value, hops - 1)
                                   for one in bound)  # fmt: skip
    equal = isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq)
    return equal or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "eq"
    )  # torch.eq too


def _local_size(source: Source, node: ast.expr) -> bool:
    """Whether a name holds the size of what is there: `bs = x.size(0)`."""
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    return bool(bound) and all(one.value is not None and _SIZED.search(source.code(one.value)) for one in bound)
