"""The rule of nonblocking-to-cpu."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, edits, flow, follow, project, scopes, tree, uses, values
from torchlore.check.source import Hit, Source

_SIZES = {"shape", "size", "numel", "dtype", "device", "dim", "ndim"}
_WAITS = {"synchronize", "wait", "wait_stream", "wait_event", "query", "record_event", "record_stream"}

WORDS = ("non_blocking", "to")


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("to"):
        flag = tree.keyword(call, "non_blocking")
        if flag is None or tree.literal(flag.value) is not True or not call.args or not _is_cpu(source, call.args[0]):
            continue
        kinds = values.kind(source, tree.receiver(call))
        part = isinstance(tree.receiver(call), ast.Attribute) and not kinds  # `model.head` may be a module
        if part or _waits(source, call) or (kinds - {"tensor", "parameter"}) or _is_there(source, call):
            continue
        code = source.code(tree.receiver(call))
        message = (
            f"nothing waits for this copy, so the CPU may read `{code}` before it has arrived: leave non_blocking out, or "
            "synchronize before reading"
        )
        handed_on = None if _is_read(source, call) else "hint"  # somebody else reads it, and may wait before
        yield source.hit(call, message, edits.remove_argument(source, call, flag.value), severity=handed_on)


def _is_read(source: Source, call: ast.Call) -> bool:
    """Whether its numbers are asked for here; a function or a list that it is given to may wait first."""
    held = tree.statement(source, call)
    if not isinstance(held, ast.Assign) or held.value is not call or not isinstance(held.targets[0], ast.Name):
        return True
    home = tree.function(source, call)
    same = [one for one in uses.names(source, held.targets[0].id) if tree.function(source, one) is home]
    ups = [source.parents[one] for one in same if isinstance(one.ctx, ast.Load)]
    return any(not isinstance(up, ast.Attribute) or up.attr not in _SIZES for up in ups if not _given(source, up))


def _given(source: Source, up: ast.AST) -> bool:
    """`self.record(copied)`, `copies.append(copied)`: nothing that reads at once."""
    named = tree.dotted(up.func).rpartition(".")[2] if isinstance(up, ast.Call) else ""
    return bool(named) and named not in ("int", "float", "print", "sum", "max", "min") and not source.name(up.func)  # type: ignore[attr-defined]  # a call


def _is_there(source: Source, call: ast.Call) -> bool:
    """Whether the function that made the tensor brought it to the CPU itself, or autograd brings it back in order."""
    cls = tree.class_of(source, call)
    if cls is not None and any(source.name(base) == "torch.autograd.Function" for base in cls.bases):
        return True
    made = follow.followed(source, tree.receiver(call))
    first: ast.expr = made
    while isinstance(first, ast.Call) and not source.name(first.func) and isinstance(first.func, ast.Attribute):
        first = first.func.value  # `torch.from_numpy(x)` of `torch.from_numpy(x).float()`
    if isinstance(first, ast.Call) and source.name(first.func) == "torch.from_numpy":
        return True
    function = flow.called(source, made) if isinstance(made, ast.Call) else None
    inside = (one for one in tree.body_nodes(function.node) if isinstance(one, ast.Call)) if function else ()
    return function is not None and any(
        follow.method(one) == "cpu"
        or (follow.method(one) == "to" and one.args and _is_cpu(function.source, one.args[0]))
        for one in inside
    )


def _async(call: ast.Call) -> bool:
    flag = tree.keyword(call, "non_blocking")
    return flag is not None and tree.literal(flag.value) is not False


def _is_cpu(source: Source, node: ast.expr) -> bool:
    if tree.literal(node) == "cpu":
        return True
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else ()
    if any(one.how == "parameter" for one in bound):
        return False  # another caller may name another device
    made = values.values(source, node)
    return bool(made) and all(_cpu_device(value.node) for value in made)


def _cpu_device(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and bool(node.args) and tree.literal(node.args[0]) == "cpu"


def _waits(source: Source, call: ast.Call) -> bool:
    """Whether somebody synchronises further down in the same function, or the caller gets the tensor and may do so."""
    home = tree.function(source, call) or source.tree
    later = (n for n in tree.body_nodes(home) if isinstance(n, ast.Call) and n.lineno > call.lineno)
    here = tree.statement(source, call)
    block: list[ast.stmt] = getattr(source.parents[here], "body", [])
    behind = block[block.index(here) + 1 :] if here in block else []
    behind = behind[: next((i for i, one in enumerate(behind) if _reads(one, here)), 0) + 1]
    copies = (
        n for one in behind for n in ast.walk(one) if isinstance(n, ast.Call) and follow.method(n) in ("to", "cpu")
    )
    if any(_is_cpu(source, n.args[0]) and not _async(n) if n.args else follow.method(n) == "cpu" for n in copies):
        return True  # the next copy waits, and copies arrive in order
    returned = isinstance(here, ast.Return) and not _read_by_callers(source, here)
    return returned or any(follow.word(source, one) in _WAITS for one in later)


def _read_by_callers(source: Source, back: ast.Return) -> bool:
    """`self.to_host(out).numpy()`: whoever calls the function reads the numbers before anything can wait."""
    home = tree.function(source, back)
    found = calls.callers(project.as_function(source, home)) if home is not None else []
    ups = [at.parents[call] for at, call, _ in found]
    return bool(ups) and all(isinstance(up, ast.Attribute) and up.attr in {"numpy", "tolist", "item"} for up in ups)


def _reads(statement: ast.stmt, copy: ast.stmt) -> bool:
    """Whether a line below reads what was copied."""
    name = tree.dotted(copy.targets[0]) if isinstance(copy, ast.Assign) else ""
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(statement))
