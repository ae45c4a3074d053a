"""Reading a number from the GPU in every step makes the GPU wait for Python, and Python for the GPU.

`.item()`, `.cpu()`, `.numpy()`, `.tolist()`, `float(t)`, `print(t)` and `if t > 0:` need the value itself, so the
program stops until everything queued before is done. Once a step is enough to lose the overlap that makes a GPU busy.
`.item()` is right for taking one number out of the graph (it raises for more than one element); it is the *every step*
that costs.

Add up on the device and read seldom: `total += loss.detach()` in the loop, `total.item()` once an epoch or every 50
steps. `torch.cuda.set_sync_debug_mode("warn")` shows each place where the program waits.
"""

from typing import Any

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
