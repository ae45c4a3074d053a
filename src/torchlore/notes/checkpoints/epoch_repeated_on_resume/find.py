"""The rule of epoch-repeated-on-resume."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, flow, frameworks, project, saved, scopes, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_START = regex(r"(start|begin|first|initial|resume)\w*epoch|epoch_?(start|begin)", re.IGNORECASE)
_SHOWS = regex(r"(^|\.)(print|format|info|debug|warning|log|write)$")
WORDS = ("load", "*epoch*", "range|trange")


def find(source: Source) -> Iterator[Hit]:
    if "epoch" not in source.text or not any(source.calls("torch.load")):
        return
    yield from _never_started(source)
    saves = list(_saves(source))
    if not saves or not all(ended for _, ended in saves):
        return  # one of them says the next epoch, or is written in the middle of one
    keys = {key for key, _ in saves}
    for read in source.all(ast.Subscript):
        key = tree.literal(read.slice)
        if key not in keys or not isinstance(read.ctx, ast.Load) or not _is_loaded(source, read.value):
            continue
        if _starts(source, read) and not frameworks.owned(source, read):
            told = (
                f"`{source.code(read)}` is the epoch that was over when it was saved, so a resumed run trains it again"
            )
            yield source.hit(read, f"{told}: start at `{source.code(read)} + 1`")


def _never_started(source: Source) -> Iterator[Hit]:
    """`start_epoch = checkpoint["epoch"] + 1`, and the loop runs over `range(epochs)` all the same."""
    for held in source.all(ast.Assign):
        name = tree.dotted(held.targets[0]) if len(held.targets) == 1 else ""
        if not _START.search(name.rpartition(".")[2]) or not _from_checkpoint(source, held.value):
            continue
        loops = [one.node for one in flow.backward_loops(source) if _over_epochs(source, one.node)]
        after = [one for one in loops if "." in name or tree.function(source, one) is tree.function(source, held)]
        after = [
            one
            for one in after
            if one.lineno > held.lineno or tree.function(source, one) is not tree.function(source, held)
        ]
        if len(loops) == 1 and after and _only_shown(source, name, held) and not frameworks.owned(source, held):
            told = f"`{name}` is read from the checkpoint and this loop does not start there, so a resumed run trains all epochs again"
            over = after[0].iter if isinstance(after[0], ast.For) else after[0]
            yield source.hit(over, f"{told}: start the range at `{name}`")


def _from_checkpoint(source: Source, value: ast.expr) -> bool:
    """`checkpoint["epoch"]`, `checkpoint.get("epoch", 0)`, also with `+ 1`, or a function that gives that back."""
    inner = flow.called(source, value) if isinstance(value, ast.Call) else None
    if inner is not None and inner.source is source:
        backs = calls.returned(inner)
        return bool(backs) and all(not isinstance(one, ast.Call) and _from_checkpoint(source, one) for one in backs)
    value = value.left if isinstance(value, ast.BinOp) else value
    got = (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "get"
        and value.args
    )
    key = value.args[0] if isinstance(value, ast.Call) and got else getattr(value, "slice", None)
    box = value.func.value if isinstance(value, ast.Call) and got else getattr(value, "value", None)  # type: ignore[attr-defined]  # asked above
    named = isinstance(key, ast.expr) and "epoch" in str(tree.literal(key)).lower()
    return named and isinstance(box, ast.expr) and _is_loaded(source, box)


def _over_epochs(source: Source, loop: ast.AST) -> bool:
    """`for epoch in range(epochs)`, with its first number left out or 0."""
    over = loop.iter if isinstance(loop, ast.For) and "epoch" in tree.dotted(loop.target).lower() else None
    calls_ = [one for one in ast.walk(over) if isinstance(one, ast.Call)] if over is not None else []
    ranges = [one for one in calls_ if source.name(one.func) in ("range", "tqdm.trange")]
    return len(ranges) == 1 and (len(ranges[0].args) == 1 or tree.literal(ranges[0].args[0]) in (0, 1))


def _only_shown(source: Source, name: str, held: ast.Assign) -> bool:
    """Whether the number is written to the log at most, nowhere else."""
    last = name.rpartition(".")[2]
    found: list[ast.Name | ast.Attribute] = (
        [*uses.attributes(source, last)] if "." in name else [*uses.names(source, last)]
    )
    home = tree.function(source, held)
    reads = [one for one in found if isinstance(one.ctx, ast.Load)]
    if "." not in name:
        reads = [one for one in reads if tree.function(source, one) is home]
    return all(any(isinstance(up, ast.JoinedStr) or (isinstance(up, ast.Call) and _SHOWS.search(source.code(up.func)))
                   for up in tree.ancestors(source, one)) for one in reads)  # fmt: skip


def _saves(source: Source) -> Iterator[tuple[str, bool]]:
    """The keys under which an epoch is saved, and whether it is the loop's own number, after the training in it."""
    for call in source.calls("torch.save"):
        for key, value in saved.contents(source, call).items:
            if "epoch" in key.lower() and "best" not in key.lower():
                yield key, isinstance(value, ast.Name) and _ends_epoch(source, call, value)


def _ends_epoch(source: Source, call: ast.AST, name: ast.Name, hops: int = 2) -> bool:
    """Whether the name is the number of the loop that this ends, here or where the function is called."""
    bound = scopes.reaching(source, name)
    if len(bound) != 1:
        return False
    if bound[0].how == "for":
        loops = tree.loops(source, call)
        return bool(loops) and loops[0] is bound[0].statement and not tree.inside(source, call, loops[0].body[0])
    home = tree.function(source, name)
    if bound[0].how != "parameter" or home is None or not hops:
        return False
    function = project.as_function(source, home)
    own = [one for one in tree.parameters(home) if one.arg == name.id]
    found = [
        (other, made, calls.given_argument(function, made, own[0], skip))
        for other, made, skip in (calls.callers(function) if own else ())
    ]
    return bool(found) and all(
        other is source and isinstance(given, ast.Name) and _ends_epoch(source, made, given, hops - 1)
        for other, made, given in found
    )


def _is_loaded(source: Source, node: ast.expr) -> bool:
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    value = bound[0].value if len(bound) == 1 else None
    return isinstance(value, ast.Call) and source.name(value.func) == "torch.load"


def _starts(source: Source, read: ast.Subscript) -> bool:
    """Whether it is, as it is, the first number of a `range` that a loop runs over."""
    up = source.parents[read]
    if isinstance(up, ast.Return):
        home = tree.function(source, read)
        found = calls.callers(project.as_function(source, home)) if home is not None else []
        return any(
            other is source and isinstance(source.parents[made], ast.Assign) and _in_range(source, source.parents[made])
            for other, made, _ in found
        )
    return isinstance(up, ast.Assign) and up.value is read and _in_range(source, up)


def _in_range(source: Source, held: ast.AST) -> bool:
    target = held.targets[0] if isinstance(held, ast.Assign) else None
    if isinstance(target, ast.Name):
        reads: list[ast.Name | ast.Attribute] = [*uses.names(source, target.id)]
        stores = [one for one in uses.names(source, target.id) if isinstance(source.parents[one], ast.AugAssign)]
    elif isinstance(target, ast.Attribute):
        reads = [*uses.attributes(source, target.attr)]
        stores = [one for one in uses.attributes(source, target.attr) if isinstance(source.parents[one], ast.AugAssign)]  # type: ignore[misc]  # names or attributes
    else:
        return False
    if stores:
        return False
    for one in reads:
        call = source.parents[one]
        first = (
            isinstance(call, ast.Call)
            and source.name(call.func) == "range"
            and len(call.args) == 2
            and call.args[0] is one
            and source.code(one) not in source.code(call.args[1])  # start + 10: ten more, whatever their number
        )
        if first and isinstance(source.parents[call], ast.For):
            return True
    return False
