"""The static rule of timing-without-sync."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, flow, follow, iteration, tree, uses, values
from torchlore.check.project import Function
from torchlore.check.source import Hit, Source

_CLOCKS = ("time.time", "time.perf_counter", "time.monotonic", "time.perf_counter_ns", "timeit.default_timer")
_WAITS = {"synchronize", "item", "cpu", "tolist", "numpy", "wait", "elapsed_time", "backward", "print", "float"}
_READS = {"item", "cpu", "tolist", "numpy"}
# these wait to know how much there is
_NEEDS_SIZES = {"nonzero", "unique", "masked_select", "any", "all", "argwhere", "bincount"}
_DRAWS = {"torch.rand", "torch.randn", "torch.zeros", "torch.ones", "torch.randint"}
_PRODUCTS = {"torch.mm", "torch.matmul", "torch.bmm", "torch.einsum"}

WORDS = ("*cuda*", "time|perf_counter|monotonic|perf_counter_ns|default_timer")


def find(source: Source) -> Iterator[Hit]:
    for clock in source.calls(*_CLOCKS):
        end = source.parents[clock]
        elapsed = isinstance(end, ast.BinOp) and isinstance(end.op, ast.Sub) and end.left is clock
        start = follow.binding(source, end.right) if isinstance(end, ast.BinOp) and elapsed else None
        if not isinstance(end, ast.BinOp) or start is None or not _is_clock(source, start):
            continue
        home = tree.function(source, end)
        if tree.function(source, start) is not home or _without_gpu(source, end):
            continue
        timed = [n for n in tree.body_nodes(home or source.tree) if start.lineno < getattr(n, "lineno", 0) < end.lineno]
        waits = any(_waits(source, node) for node in timed)
        work = next((node for node in timed if _is_gpu_work(source, node)), None) if not waits else None
        if work is not None:
            message = (
                f"this times how long `{source.code(work)}` took to queue, and the GPU may still be at it: call "
                "`torch.cuda.synchronize()` before both readings"
            )
            read = any(_reads(source, node) for node in timed if node is not work)
            yield source.hit(end, message, severity="hint" if read else None)


def _without_gpu(source: Source, end: ast.expr) -> bool:
    """The other branch of `if device.type == "cuda":`."""
    return any("cuda" in source.code(test) and not branch for test, branch in tree.conditions(source, end))


def _is_clock(source: Source, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and source.name(node.func) in _CLOCKS


def _waits(source: Source, node: ast.AST) -> bool:
    """Something that needs a value; and an epoch, beside which the last kernels in the queue are nothing."""
    if isinstance(node, ast.For):
        return values.sure(source, iteration.unwrapped(source, node.iter), "loader", weak=True)
    if not isinstance(node, ast.Call):
        return False
    target = source.project.resolve(source, node.func)
    target = target if isinstance(target, Function) else flow.called(source, node)  # `decoder.greedy(...)`
    if target is not None:
        inside = (one.func for one in tree.body_nodes(target.node) if isinstance(one, ast.Call))
        called = {one.attr if isinstance(one, ast.Attribute) else tree.dotted(one) for one in inside}
        return bool(called & (_WAITS | _NEEDS_SIZES))
    return follow.word(source, node) in _WAITS or _net_waits(source, node)


def _net_waits(source: Source, call: ast.Call) -> bool:
    """Whether the `forward` of a net of the project, or a method that it calls, moves something to the CPU or reads a value."""
    owners = [classes.class_behind(source, one) for one in source.values(call.func)]
    forwards = [source.project.method(one, "forward") for one in owners if one is not None]
    for forward in (one for one in forwards if one is not None):
        within = [one for one in tree.body_nodes(forward.node) if isinstance(one, ast.Call)]
        own = [flow.called(forward.source, one) for one in within if tree.dotted(one.func).startswith("self.")]
        within += [
            one
            for inner in own
            if inner is not None
            for one in tree.body_nodes(inner.node)
            if isinstance(one, ast.Call)
        ]
        if any(follow.method(one) in _READS for one in within):
            return True
    return False


def _reads(source: Source, node: ast.AST) -> bool:
    """`boxes = pick(scores)`: a function of the author's, or of a library, which may well need a value."""
    name = source.name(node.func) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    return bool(name) and "." in name and not name.startswith(("torch.", "time.")) and not values.sure(source, node.func, "module", "class")  # type: ignore[attr-defined]  # a call  # fmt: skip


def _is_gpu_work(source: Source, node: ast.AST) -> bool:
    """A forward pass or a product of something that was put on the GPU in sight."""
    if isinstance(node, ast.Call):
        heavy = source.name(node.func) in _PRODUCTS or values.sure(source, node.func, "module")
    else:
        heavy = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
    heavy = heavy and not (isinstance(node, ast.Call) and any(_drawn_here(source, one) for one in node.args))
    names = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)} if heavy else set()
    return any(_moved(source, name) for one in names for name in uses.names(source, one))


def _drawn_here(source: Source, given: ast.expr) -> bool:
    """`x = torch.rand(5, 3)`, which nobody has put on a GPU."""
    made = follow.binding(source, given) if isinstance(given, ast.Name) else None
    if not isinstance(made, ast.Call) or source.name(made.func) not in _DRAWS or "set_default" in source.text:
        return False
    return "device" not in source.code(made) and "cuda" not in source.code(made)


def _moved(source: Source, name: ast.Name) -> bool:
    value = follow.binding(source, name)
    text = source.code(value) if value is not None else ""
    chosen = ".to(device" in text or "device=device" in text
    return "cuda" in text or (chosen and any("cuda" in source.code(c) for c in source.calls("torch.device")))
