"""The rule of score-averaged-over-batches."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, kept, loaders, tallies, tree, values
from torchlore.check.source import Hit, Source

_PERPLEXED = re.compile(r"ppl|perplex", re.IGNORECASE)
_ONES = {"torch.ones", "torch.ones_like", "numpy.ones", "numpy.ones_like"}
_ZEROS = {"torch.zeros", "torch.zeros_like", "numpy.zeros", "numpy.zeros_like"}
WORDS = ("*oader*|exp", "*oader*|*ppl*|*perplex*")


def find(source: Source) -> Iterator[Hit]:
    perplexed = list(_perplexities(source))
    yield from perplexed
    lines = {one.line for one in perplexed}
    for one in tallies.tallies(source) if "oader" in source.text else ():
        loader = _loader(source, one.loop)
        meter = (
            one.kind == "loss" and one.division is one.node
        )  # `losses.update(loss.item())`, which would take a count
        if (one.kind not in ("bent", "mean") and not meter) or one.by == "samples" or loader is None:
            continue
        if getattr(one.node, "lineno", 0) in lines:
            continue
        if one.kind == "bent" and not _drawn(source, one):
            yield source.hit(
                one.node,
                f"the mean of the batches' scores is not the score: collect labels and predictions of all of `{one.over}` and "
                "compute it once",
            )
        elif one.kind == "mean" or meter:
            yield from _ragged(source, one, loader)


def _averaged(source: Source, held: ast.expr, call: ast.Call) -> bool:
    """Whether it is filled in a loop; a list of which the least one is chosen is no mean."""
    home = tree.function(source, call)
    parts = (one for one in source.all(ast.Subscript) if tree.function(source, one) is home)
    chosen = any(isinstance(one.slice, ast.Slice) and tree.dotted(one.value) == tree.dotted(held) for one in parts)
    return bool(tree.loops(source, call)) and not chosen


def _perplexities(source: Source) -> Iterator[Hit]:
    """`ppl += math.exp(loss.item())` in each turn: the perplexity is the exponential of the mean loss."""
    for call in (*source.calls("math.exp", "numpy.exp", "torch.exp"), *source.methods("exp")):
        statement = tree.statement(source, call)
        adds = statement.target if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add) else None
        appends = isinstance(statement, ast.Expr) and follow.method(statement.value) == "append"
        held = tree.receiver(statement.value) if appends and isinstance(statement, ast.Expr) else adds  # type: ignore[arg-type]  # a call
        given = call.args[0] if source.name(call.func) and call.args else tree.receiver(call)
        bare = follow.peeled(given, ("item", "detach", "cpu"))
        state = values.state(source, bare)
        loss = (state is not None and state.state == "loss") or "loss" in tree.dotted(bare).lower()
        if held is not None and _PERPLEXED.search(tree.dotted(held)) and loss and _averaged(source, held, call):
            told = "the mean of the batches' perplexities is larger than the perplexity, and one bad batch decides it"
            yield source.hit(call, f"{told}: add up the losses and take `exp` of their mean")


def _loader(source: Source, loop: ast.For) -> ast.expr | None:
    """What hands out the batches; a loop over folds or classes has none."""
    nodes = [node for node in ast.walk(loop.iter) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript)]
    return next((node for node in nodes if values.sure(source, node, "loader", weak=True)), None)


def _drawn(source: Source, one: tallies.Tally) -> bool:
    """Labels that are ones for the batch and zeros for what was drawn against it: each batch is a ranking of its own."""
    _, value = kept.kept(source, one.node)
    score = follow.followed(source, value) if value is not None else None
    labels = follow.followed(source, score.args[0]) if isinstance(score, ast.Call) and score.args else None
    made = {source.name(part.func) for part in ast.walk(labels) if isinstance(part, ast.Call)} if labels else set()
    return bool(made & _ONES) and bool(made & _ZEROS)


def _ragged(source: Source, one: tallies.Tally, loader: ast.expr) -> Iterator[Hit]:
    """An accuracy, where the last batch is seen to be short."""
    short = loaders.short(source, loader)
    if short is not None and short[0]:
        told = f"the last batch of `{one.over}` has {short[0]} samples and counts as much as one of {short[1]}: "
        way = (
            "give the meter the batch's size too"
            if one.division is one.node
            else "add up the right answers and divide by the samples"
        )
        yield source.hit(one.node, told + way)
