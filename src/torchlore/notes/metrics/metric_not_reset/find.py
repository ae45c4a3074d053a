"""The rule of metric-not-reset."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, frameworks, scopes, tree, uses, values
from torchlore.check.source import Hit, Source


def find(source: Source) -> Iterator[Hit]:
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


def _is_metric(source: Source, name: ast.Name) -> bool:
    """A metric of torchmetrics, also behind `.to(device)`."""
    value = follow.followed(source, name)
    while follow.method(value) in ("to", "cuda", "cpu"):
        value = tree.receiver(value)  # type: ignore[arg-type]  # method says that it is a call
    return values.sure(source, value, "metric")


def _is_evaluation(source: Source, node: ast.AST) -> bool:
    contexts = [source.code(one) for one in tree.contexts(source, node)]
    return any("no_grad" in one or "inference_mode" in one for one in contexts)
