"""CUDA_VISIBLE_DEVICES set inside the program after CUDA was first used changes nothing.

The driver reads the variable once, at the first question it is asked, and `torch.cuda.is_available()` is such a
question. Set later, it is silently ignored: the program runs on GPU 0 beside somebody else's job. To make it worse,
`torch.cuda.device_count()` may read the new value and answer as if it had worked.

Set it in the shell, where it cannot come too late: `CUDA_VISIBLE_DEVICES=0,1 python train.py`. If it must be in the
program, put it above `import torch`. Under `torchrun` leave it alone and write
`torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))`.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import calls, project, tree, values
from torchlore.check.source import Hit, Source

ROWS = ("env-visible-devices",)
SOURCES = ("003:33-39",)
TORCH = "2.11"
NEEDS = ("cuda",)
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["gpu_still_used"]  # hidden too late: the context goes on working
    assert not good["gpu_still_used"]


_WAKES = ("is_available", "set_device", "current_device", "get_device_name", "get_device_properties", "init",
          "get_device_capability", "synchronize", "memory_allocated", "current_stream", "mem_get_info", "is_bf16_supported")  # fmt: skip
_KEY = "CUDA_VISIBLE_DEVICES"

WORDS = (_KEY,)


def find(source: Source) -> Iterator[Hit]:
    candidates: list[ast.Assign | ast.Call] = [*source.all(ast.Assign), *source.all(ast.Call)]
    settings = [node for node in candidates if _sets(source, node)]
    wakes = [*source.calls(*(f"torch.cuda.{name}" for name in _WAKES)), *_moves(source)] if settings else []
    for setting in settings:
        earlier = [call for call in wakes if _before(source, call, setting)]
        if earlier and not any(_again(one, setting) for one in settings):
            first = min(earlier, key=lambda call: call.lineno)
            message = (
                f"CUDA read {_KEY} when `{source.code(first)}` ran (line {first.lineno}), so this has no effect: "
                "set it in the shell, or above `import torch`"
            )
            yield source.hit(setting, message)


def _sets(source: Source, node: ast.Assign | ast.Call) -> bool:
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        if not isinstance(target, ast.Subscript):
            return False
        return source.name(target.value) == "os.environ" and tree.literal(target.slice) == _KEY
    return source.name(node.func) == "os.putenv" and bool(node.args) and tree.literal(node.args[0]) == _KEY


def _again(one: ast.Assign | ast.Call, setting: ast.Assign | ast.Call) -> bool:
    """Whether an earlier line set the same already."""
    first, then = (
        node.value if isinstance(node, ast.Assign) else node.args[1] if len(node.args) > 1 else node
        for node in (one, setting)
    )
    same = isinstance(tree.literal(first), str) and tree.literal(first) == tree.literal(then)
    return one.lineno < setting.lineno and same


def _moves(source: Source) -> Iterator[ast.Call]:
    for call in source.methods("cuda", "to"):
        where = tree.literal(call.args[0]) if call.args else tree.UNKNOWN
        moved = isinstance(call.func, ast.Attribute) and call.func.attr == "cuda"
        on_cuda = isinstance(where, str) and where.startswith("cuda")
        if (moved or on_cuda) and values.sure(source, tree.receiver(call), "tensor", "module"):
            yield call


def _before(source: Source, call: ast.Call, setting: ast.AST, hops: int = 2) -> bool:
    """Whether the call surely ran when the variable is set: above it, in the same function or at the top of the file.

    Also in a function that is called there: `net = build()`, where `build` moves the net to the GPU.
    """
    home = tree.function(source, call)
    if home is not None and home is not tree.function(source, setting) and home.name != "__init__":
        asks = all(branch and "is_available" in source.code(test) for test, branch in tree.conditions(source, call))
        sites = calls.callers(project.as_function(source, home)) if asks and hops else []
        return any(at is source and _before(source, site, setting, hops - 1) for at, site, _ in sites)
    same = home is tree.function(source, setting)
    above = call.lineno < setting.lineno  # type: ignore[attr-defined]  # a statement or a call
    exclusive = any(tree.conditions(source, call)) and not isinstance(source.parents[call], ast.IfExp | ast.If)
    return above and (same or home is None) and not exclusive and tree.class_of(source, call) is None
