"""Reading a number from the GPU in every step makes the GPU wait for Python, and Python for the GPU.

`.item()`, `.cpu()`, `.numpy()`, `.tolist()`, `float(t)`, `print(t)` and `if t > 0:` need the value itself, so the
program stops until everything queued before is done. Once a step is enough to lose the overlap that makes a GPU busy.
`.item()` is right for taking one number out of the graph (it raises for more than one element); it is the *every step*
that costs.

Add up on the device and read seldom: `total += loss.detach()` in the loop, `total.item()` once an epoch or every 50
steps. `torch.cuda.set_sync_debug_mode("warn")` shows each place where the program waits.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import flow, follow, frameworks, tree, values
from torchlore.check.source import Hit, Source

ROWS = ("tensor-item",)
SOURCES = ("003:107-110",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import warnings

    import torch

    from torchlore.notes.proof import error_of

    assert abs(bad["mean"] - good["mean"]) < 1e-6  # the same number
    assert torch.tensor([[3.0]], device=device).item() == 3.0
    assert error_of(torch.ones(2, device=device).item) == "RuntimeError"
    if device == "cuda":
        losses = torch.rand(8, device=device).unbind()
        torch.cuda.set_sync_debug_mode("warn")
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            total = torch.zeros((), device=device)
            for loss in losses:
                total += loss
            assert not seen  # nothing waited
            sum(loss.item() for loss in losses)
            assert seen
        torch.cuda.set_sync_debug_mode("default")


_READS = {"item", "tolist", "cpu", "numpy"}

WORDS = ("*cuda*", "item|tolist|cpu|numpy|float|int|print")


def find(source: Source) -> Iterator[Hit]:
    if not _uses_gpu(source):
        return
    for loop in flow.training_loops(source):
        if frameworks.owned(source, loop.node):
            continue
        for node in tree.body_nodes(loop.node):
            inner = isinstance(node, ast.Call) and tree.loops(source, node)[:1] == [loop.node]
            if inner and _reads(source, node) and not follow.seldom(source, node, loop.node):  # type: ignore[arg-type]  # a Call
                message = (
                    f"`{source.code(node)}` waits for the GPU in every step: add up on the device "
                    "(`total += loss.detach()`) and read it once an epoch"
                )
                yield source.hit(node, message)


def _uses_gpu(source: Source) -> bool:
    moves = (call.args[0] for call in source.methods("to") if call.args)
    moved = any("cuda" in str(tree.literal(where)) for where in moves)
    chosen = any("cuda" in source.code(call) for call in source.calls("torch.device"))
    return moved or chosen or any(source.methods("cuda"))


def _reads(source: Source, call: ast.Call) -> bool:
    func = call.func
    if isinstance(func, ast.Attribute) and func.attr in _READS and not call.args:
        up = source.parents[call]
        chained = isinstance(up, ast.Attribute) and up.attr in _READS  # `.cpu().numpy()` is one wait
        return not chained and values.sure(source, func.value, "tensor")
    return source.name(func) in {"float", "int", "print"} and any(
        values.sure(source, arg, "tensor") for arg in call.args
    )
