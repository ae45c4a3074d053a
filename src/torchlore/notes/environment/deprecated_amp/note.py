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

from typing import Any

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/pull/126527",)
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
