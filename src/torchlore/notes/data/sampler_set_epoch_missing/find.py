"""The rule of sampler-set-epoch-missing."""

import ast
from collections.abc import Iterator

from torchlore.check import flow, follow, frameworks, tree
from torchlore.check.source import Hit, Source

WORDS = ("DistributedSampler",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.utils.data.DistributedSampler"):
        if "set_epoch" in source.text or frameworks.frameworks(source) or not _shuffles(call):
            continue
        if _handed_on(source, call):
            continue
        epochs = [loop.node for loop in flow.loops(source) if _is_epoch_loop(loop)]
        homes = (tree.function, tree.class_of)
        near = [one for home in homes for one in epochs if home(source, one) is home(source, call)]
        if epochs and not _of_this_epoch(source, call, (near or epochs)[0]):
            loop = (near or epochs)[0]
            told = f"the DistributedSampler of line {call.lineno} gives the same order in every epoch until it is told which one it is"
            yield source.hit(loop, f"{told}: call `{_told_so(source, call, loop)}` at the top of this loop")


def _told_so(source: Source, call: ast.Call, loop: tree.Loop) -> str:
    """`train_sampler.set_epoch(epoch)` with the names of the file."""
    held = tree.statement(source, call)
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) and isinstance(source.parents[call], ast.Assign | ast.IfExp) else ""  # fmt: skip
    number = loop.target.id if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) else "epoch"
    return f"{name or 'sampler'}.set_epoch({'epoch' if number == '_' else number})"


def _of_this_epoch(source: Source, call: ast.Call, loop: tree.Loop) -> bool:
    """`rows = Rows(path, epoch)` in the loop over the epochs: each has data of its own."""
    data = tree.argument(call, 0, "dataset")
    made = follow.followed(source, data) if data is not None else None
    number = tree.dotted(loop.target) if isinstance(loop, ast.For) else ""
    told = tree.under(source, made, ast.Name) if isinstance(made, ast.Call) and tree.inside(source, made, loop) else []
    return any(one.id == number for one in told)


def _shuffles(call: ast.Call) -> bool:
    given = tree.argument(call, 3, "shuffle")
    return tree.lacks(call, 3, "shuffle") or (given is not None and tree.literal(given) is True)


def _handed_on(source: Source, call: ast.Call) -> bool:
    """Whether it is an evaluation's sampler, or another function gets it and may call `set_epoch`."""
    up, home = source.parents[call], tree.function(source, call)
    held = source.parents[up] if isinstance(up, ast.IfExp) else up
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
    data = tree.argument(call, 0, "dataset")
    called = f"{name} {source.code(data) if data is not None else ''} {home.name if home else ''}".lower()
    given = [one for one in source.all(ast.Call) for arg in (*one.args, *(kw.value for kw in one.keywords))
             if name and tree.dotted(arg) == name and tree.function(source, one) is home]  # fmt: skip
    elsewhere = any(not source.name(one.func).startswith("torch.utils.data.") for one in given)
    return elsewhere or any(word in called for word in ("val", "test"))


def _is_epoch_loop(loop: flow.LoopFlow) -> bool:
    """A loop that walks through a loader and trains, again and again."""
    inner = [event for event in loop.of("batches") if event.node is not loop.node]
    return bool(inner) and any(one.loops[-1] is not loop.node and not one.no_grad for one in loop.of("backward"))
