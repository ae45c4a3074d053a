"""The rule of metric-not-reset."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, frameworks, iteration, scopes, tree, uses, values
from torchlore.check.source import Hit, Source

_EPOCH = re.compile(r"^(ep|e|_?epoch\w*|\w*_epoch)$")


def find(source: Source) -> Iterator[Hit]:
    for outer in source.all(ast.For):
        if _EPOCH.match(tree.dotted(outer.target)):
            yield from _sums(source, outer)
    for compute in source.methods("compute") if "torchmetrics" in source.text else ():
        metric, loops = tree.receiver(compute), tree.loops(source, compute)
        name, home = tree.dotted(metric), tree.function(source, compute)
        if (
            not loops
            or not isinstance(metric, ast.Name)
            or not _is_metric(source, metric)
            or frameworks.owned(source, compute)
        ):
            continue
        made = scopes.reaching(source, metric)
        outside = bool(made) and not any(tree.inside(source, one.statement, loops[-1]) for one in made)
        same = [
            one for one in source.methods("update", "reset", "forward") if tree.function(source, one) in (home, None)
        ]
        around = [one for one in same if tree.dotted(tree.receiver(one)) == name]
        fed = [one for one in around if one.func.attr == "update" and tree.function(source, one) is home]  # type: ignore[attr-defined]  # a method
        deeper = any(len(tree.loops(source, one)) > len(loops) and _is_evaluation(source, one) for one in fed)
        spread = any(
            not isinstance(source.parents[one], ast.Attribute)
            for one in uses.names(source, name)
            if isinstance(one.ctx, ast.Load)
        )
        if outside and deeper and not spread and not any(one.func.attr == "reset" for one in around):  # type: ignore[attr-defined]  # a method
            yield source.hit(compute, f"`{name}` still holds the epochs before: call `{name}.reset()` after this line")


def _sums(source: Source, outer: ast.For) -> Iterator[Hit]:
    """Sums over batches that start before the epochs, are never set to zero again, and are divided as if they were."""
    for inner in (one for one in outer.body if isinstance(one, ast.For)):
        over = source.code(iteration.unwrapped(source, inner.iter))
        stale = {name for name in _added(source, inner) if not _starts(source, name, outer)}
        for one in tree.under(source, outer, ast.BinOp) if stale else ():
            if (
                not isinstance(one.op, ast.Div)
                or tree.inside(source, one, inner)
                or tree.loops(source, one)[0] is not outer
            ):
                continue
            above = {part.id for part in ast.walk(one.left) if isinstance(part, ast.Name)} & stale
            counts = (
                source.code(one.right) in (f"len({over})", f"len({over}.dataset)") or tree.dotted(one.right) in stale
            )
            if above and counts and not _mentions(source, one, outer):
                name = min(above)
                yield source.hit(one, f"`{name}` still holds the epochs before: set it to 0 at the start of each epoch")


def _added(source: Source, loop: ast.For) -> set[str]:
    found = (one for one in tree.under(source, loop, ast.AugAssign) if isinstance(one.op, ast.Add))
    return {one.target.id for one in found if isinstance(one.target, ast.Name)}


def _starts(source: Source, name: str, outer: ast.For) -> bool:
    """Whether the name gets a new value in the loop over epochs, or is not set to 0 before it."""
    home = tree.function(source, outer) or source.tree
    stored = [one for one in tree.under(source, home, ast.Name) if one.id == name and isinstance(one.ctx, ast.Store)]
    fresh = [one for one in stored if not isinstance(source.parents[one], ast.AugAssign)]
    return not fresh or any(tree.inside(source, one, outer) or tree.loops(source, one) for one in fresh)


def _mentions(source: Source, node: ast.expr, outer: ast.For) -> bool:
    """Whether the epoch's number comes into the quotient: a mean over all epochs so far."""
    while isinstance(up := source.parents[node], ast.BinOp):
        node = up
    return any(isinstance(one, ast.Name) and one.id == tree.dotted(outer.target) for one in ast.walk(node))


def _is_metric(source: Source, name: ast.Name) -> bool:
    """A metric of torchmetrics, also behind `.to(device)`."""
    value = follow.followed(source, name)
    while follow.method(value) in ("to", "cuda", "cpu"):
        value = tree.receiver(value)  # type: ignore[arg-type]  # method says that it is a call
    return values.sure(source, value, "metric")


def _is_evaluation(source: Source, node: ast.AST) -> bool:
    contexts = [source.code(one) for one in tree.contexts(source, node)]
    return any("no_grad" in one or "inference_mode" in one for one in contexts)
