"""A tensor made on a fixed device inside `forward` breaks on every other device.

`torch.zeros(n).cuda()` or `device="cuda:0"` inside `forward` works on one GPU and on no other: on the CPU it fails, and
under several GPUs the replica on `cuda:1` meets a tensor of `cuda:0`, "Expected all tensors to be on the same device".
The notes' cure, `.cuda()` on all data, puts it on one device, not into one stream, and only hides the cause: wrappers
scatter the inputs themselves.

Take the device from what you were given: `torch.zeros(n, device=x.device)`, `torch.zeros_like(x)`, `x.new_zeros(n)`; and
make constant tensors buffers (`self.register_buffer`), which follow `.to()`.
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, project, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

ROWS = ("parallel-same-device",)
SOURCES = ("000:43-44", "002:119-120")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["error"] in {"RuntimeError", "AssertionError", "NotImplementedError"}
    assert good["error"] == ""
    assert good["device"] == "meta"


_FIXED = regex(r"^cuda(:\d+)?$")

WORDS = ("cuda", "forward")


def find(source: Source) -> Iterator[Hit]:
    for call in (*source.methods("cuda", "to"), *_with_device(source)):
        home = tree.function(source, call)
        cls = project.enclosing_class(source, call) if home is not None and home.name == "forward" else None
        if cls is None or not classes.is_module(cls) or _guarded(source, call):
            continue
        attribute = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        given = tree.argument(call, None if attribute not in ("to", "cuda") else 0, "device")
        device = _device(source, given)
        if attribute == "cuda" and source.name(call.func).startswith("torch."):
            continue
        if attribute == "cuda" and tree.lacks(call, 0, "device"):
            device = "cuda"
        if _FIXED.match(device):
            yield source.hit(
                call,
                f'`{source.code(call)}` puts it on "{device}", wherever the model is: use the device of the input, '
                "`device=x.device`, or a buffer",
                severity="warning" if ":" in device and not _split(source, home) else "hint",
            )


def _split(source: Source, home: tree.FunctionNode | None) -> bool:
    """Whether `forward` names several devices: the model lies on all of them by design."""
    return len(set(re.findall(r"cuda:\d", source.code(home)))) > 1 if home is not None else False


def _with_device(source: Source) -> Iterator[ast.Call]:
    for keyword in uses.keywords(source, "device"):
        call = source.parents[keyword]
        if isinstance(call, ast.Call) and source.name(call.func).startswith("torch."):
            yield call


def _device(source: Source, node: ast.expr | None) -> str:
    if isinstance(node, ast.Call) and source.name(node.func) == "torch.device" and node.args:
        node = node.args[0]
    value = tree.literal(node) if node is not None else None
    return value if isinstance(value, str) else ""


def _guarded(source: Source, node: ast.AST) -> bool:
    return any(
        "cuda" in source.code(test) or "gpu" in source.code(test).lower() for test, _ in tree.conditions(source, node)
    )
