"""A tensor made on a fixed device inside `forward` breaks on every other device.

`torch.zeros(n).cuda()` or `device="cuda:0"` inside `forward` works on one GPU and on no other: on the CPU it fails, and
under several GPUs the replica on `cuda:1` meets a tensor of `cuda:0`, "Expected all tensors to be on the same device".
The notes' cure, `.cuda()` on all data, puts it on one device, not into one stream, and only hides the cause: wrappers
scatter the inputs themselves.

Take the device from what you were given: `torch.zeros(n, device=x.device)`, `torch.zeros_like(x)`, `x.new_zeros(n)`; and
make constant tensors buffers (`self.register_buffer`), which follow `.to()`.
"""

ROWS = ("parallel-same-device",)
SOURCES = ("000:43-44", "002:119-120")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["error"] in {"RuntimeError", "AssertionError", "NotImplementedError"}
    assert good["error"] == ""
    assert good["device"] == "meta"
