"""torch.cuda.amp is deprecated: autocast and GradScaler live in torch.amp and take the device.

`torch.cuda.amp.autocast()` and `torch.cpu.amp.autocast()` still work and warn on every use, which fills the log of a
long run. They also tie the code to one kind of device, and `autocast(True)` puts its first argument into `enabled`,
where the new one takes the device there.

| old | write |
| --- | --- |
| `torch.cuda.amp.autocast(dtype=d)` | `torch.amp.autocast("cuda", dtype=d)` |
| `torch.cpu.amp.autocast()` | `torch.amp.autocast("cpu")` |
| `torch.cuda.amp.GradScaler(**kw)` | `torch.amp.GradScaler("cuda", **kw)` |
| `@torch.cuda.amp.custom_fwd` | `@torch.amp.custom_fwd(device_type="cuda")` |

With bfloat16 no scaler is needed at all: its range is that of float32.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, follow, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/pytorch/tutorials/issues/3331",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    assert bad["warned"]
    assert not good["warned"]
    assert bad["dtype"] == good["dtype"] == "torch.bfloat16"
    with torch.amp.autocast(device, dtype=torch.bfloat16):
        assert torch.nn.Linear(2, 2, device=device)(torch.ones(1, 2, device=device)).dtype == torch.bfloat16


_NEW = {
    f"torch.{device}.amp.{name}": (name, device)
    for device in ("cuda", "cpu")
    for name in ("autocast", "GradScaler", "custom_fwd", "custom_bwd")
}

WORDS = ("autocast|GradScaler|custom_fwd|custom_bwd",)


def find(source: Source) -> Iterator[Hit]:
    if follow.before(source, "2.4"):
        return  # nothing warns yet, and torch.amp has no GradScaler before 2.3
    for call in source.calls(*_NEW):
        name, device = _NEW[source.name(call.func)]
        if follow.asks_version(source, call):
            continue
        given = source.code(call)[len(source.code(call.func)) :].strip()
        positional = bool(call.args) or tree.spread(call)  # `autocast(True)` is enabled, not a device
        wraps = name.startswith("custom")
        head = f'torch.amp.{name}(device_type="{device}"' if wraps else f'torch.amp.{name}("{device}"'
        rest = given[1:-1].strip()
        write = f"{head}, {rest})" if rest else f"{head})"
        fix = not positional and not wraps and source.name(ast.Name("torch")) == "torch"
        edit = [edits.replace(source, call, write)] if fix else []
        yield source.hit(
            call, f"`{source.code(call.func)}` is deprecated and warns on each use: write `{head})`", *edit
        )
    for node in source.all(ast.FunctionDef):
        for decorator in node.decorator_list:
            if not isinstance(decorator, ast.Call) and (old := _NEW.get(source.name(decorator))):
                text = f'torch.amp.{old[0]}(device_type="{old[1]}")'
                yield source.hit(decorator, f"`{source.code(decorator)}` is deprecated: write `{text}`")
