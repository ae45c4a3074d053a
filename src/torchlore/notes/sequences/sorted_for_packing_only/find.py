"""The rule of sorted-for-packing-only."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, losses, scopes, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_PACK = "torch.nn.utils.rnn.pack_padded_sequence"
_TARGET = regex(r"(^|_)(y|label|target|tag|tgt|trg|gt|score|class)(e?s)?($|_)", re.IGNORECASE)

_LOSSES = (
    "CrossEntropyLoss",
    "cross_entropy",
    "NLLLoss",
    "nll_loss",
    "MSELoss",
    "mse_loss",
    "BCEWithLogitsLoss",
    "binary_cross_entropy_with_logits",
)

WORDS = ("pack_padded_sequence",)


def find(source: Source) -> Iterator[Hit]:
    yield from (*_labels_stay(source), *_handed_back_unsorted(source)) if any(source.calls(_PACK)) else ()
    for pack in source.calls(_PACK):
        home = tree.function(source, pack)
        if home is None or tree.literal(tree.argument(pack, 3, "enforce_sorted")) is False:
            continue
        for name, statement in _orders(source, home):
            if statement.lineno < pack.lineno and _only_sorts(source, home, name, pack):
                told = f"`{name.id}` sorts the batch for packing and nothing puts the outputs back, so they meet the labels of others"
                way = f"{told}: index them with `{name.id}.argsort()`, or pass `enforce_sorted=False`"
                yield source.hit(statement, way, severity="warning")  # the batch may come sorted


def _labels_stay(source: Source) -> Iterator[Hit]:
    """`ids = ids[order]` where the labels, which came in one batch with `ids`, go into the loss as they were."""
    for loss in losses.loss_calls(source, *_LOSSES):
        labels, home = loss.target, tree.function(source, loss.call) or source.tree
        bound = scopes.reaching(source, labels) if isinstance(labels, ast.Name) else []
        batch = bound[0].statement if len(bound) == 1 and bound[0].path else None
        for name, statement in _orders(source, home) if batch is not None else ():
            taken = [source.parents[one] for one in tree.under(source, home, ast.Name) if _reads(source, one, name)]
            subjects = [one.value for one in taken if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Load)]
            came = [one for one in subjects if isinstance(one, ast.Name) and _came_with(source, one, batch)]
            mine = any(
                isinstance(one, ast.Name) and isinstance(labels, ast.Name) and one.id == labels.id for one in subjects
            )
            between = batch is not None and getattr(batch, "lineno", 0) <= statement.lineno < loss.call.lineno
            if came and between and not mine and len(subjects) == len(taken):
                told = f"`{name.id}` reorders `{came[0].id}`, and `{source.code(labels)}`, which came with it, keeps the old order"  # type: ignore[arg-type]  # a name
                yield source.hit(statement, f"{told}: index it with `{name.id}` too, or pass `enforce_sorted=False`")
                return


def _handed_back_unsorted(source: Source) -> Iterator[Hit]:
    """`return ids[order], lengths, labels`: labels that came in with `ids` go out in their old order."""
    for home in source.all(ast.FunctionDef):
        backs = [one for one in tree.under(source, home, ast.Return) if isinstance(one.value, ast.Tuple)]
        for name, statement in _orders(source, home) if len(backs) == 1 else ():
            taken = [source.parents[one] for one in tree.under(source, home, ast.Name) if _reads(source, one, name)]
            subjects = [one.value for one in taken if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Load)]
            moved = [one for one in subjects if isinstance(one, ast.Name)]
            given = backs[0].value.elts if isinstance(backs[0].value, ast.Tuple) else []
            for left in given if moved and len(moved) == len(taken) else ():
                labels = (
                    isinstance(left, ast.Name) and _TARGET.search(left.id) and left.id not in {one.id for one in moved}
                )
                if labels and isinstance(left, ast.Name) and _one_batch(source, left, moved[0]):
                    told = f"`{name.id}` reorders `{moved[0].id}`, and `{left.id}`, which came with it, keeps the old order"
                    yield source.hit(
                        statement, f"{told}: index it with `{name.id}` too, or pass `enforce_sorted=False`"
                    )


def _one_batch(source: Source, one: ast.Name, other: ast.Name) -> bool:
    """Whether two names are parts of one batch that was unpacked here, or parameters of one function."""
    mine, its = scopes.reaching(source, one), scopes.reaching(source, other)
    if len(mine) != 1 or len(its) != 1 or mine[0].how != its[0].how:
        return False
    return mine[0].how == "parameter" or (bool(mine[0].path) and mine[0].statement is its[0].statement)


def _reads(source: Source, use: ast.Name, name: ast.Name) -> bool:
    same = use.id == name.id and isinstance(use.ctx, ast.Load)
    return same and {id(one.node) for one in scopes.reaching(source, use)} == {id(name)}


def _came_with(source: Source, use: ast.Name, batch: ast.AST | None) -> bool:
    return any(one.statement is batch and one.path for one in scopes.reaching(source, use))


def _orders(source: Source, home: ast.AST) -> Iterator[tuple[ast.Name, ast.Assign]]:
    """The names that hold the order in `lengths, order = lengths.sort(...)`, `order = lengths.argsort()`."""
    for held in tree.under(source, home, ast.Assign):
        call, target = held.value, held.targets[0]
        if not isinstance(call, ast.Call) or len(held.targets) != 1:
            continue
        way = follow.method(call) or source.name(call.func).rpartition(".")[2]
        order: ast.expr | None = None
        if way == "sort" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            order = target.elts[1]
        elif way == "argsort":
            order = target
        if isinstance(order, ast.Name) and "len" in source.code(call).lower():
            yield order, held


def _only_sorts(source: Source, home: ast.AST, name: ast.Name, pack: ast.Call) -> bool:
    """Whether the order is used for nothing but to index inputs before the packing."""
    sorted_some = False
    for node in tree.under(source, home, ast.Name):
        if node.id != name.id or not isinstance(node.ctx, ast.Load):
            continue
        if {id(one.node) for one in scopes.reaching(source, node)} != {id(name)}:
            return False
        up = source.parents[node]
        while isinstance(up, ast.Attribute | ast.Tuple | ast.Slice) or _is_view(up):
            up = source.parents[up]
        subject: ast.expr | None = None
        if isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Load) and not tree.inside(source, node, up.value):
            subject = up.value
        elif isinstance(up, ast.Call) and (follow.method(up) or "").startswith(("index_select", "gather")):
            subject = tree.receiver(up) if source.name(up.func) != "torch.index_select" else up.args[0]
        if subject is None or node.lineno > (pack.end_lineno or pack.lineno) or _TARGET.search(follow.base(subject)):
            return False
        sorted_some = True
    return sorted_some


def _is_view(node: ast.AST) -> bool:
    """`order.view(-1)`, `order.to(device)`: still the order."""
    return isinstance(node, ast.Call) and follow.method(node) in (
        "view",
        "to",
        "cpu",
        "cuda",
        "long",
        "tolist",
        "numpy",
    )
