"""CUDA_VISIBLE_DEVICES set inside the program after CUDA was first used changes nothing.

The driver reads the variable once, at the first question it is asked, and `torch.cuda.is_available()` is such a
question. Set later, it is silently ignored: the program runs on GPU 0 beside somebody else's job. To make it worse,
`torch.cuda.device_count()` may read the new value and answer as if it had worked.

Set it in the shell, where it cannot come too late: `CUDA_VISIBLE_DEVICES=0,1 python train.py`. If it must be in the
program, put it above `import torch`. Under `torchrun` leave it alone and write
`torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))`.
"""

from typing import Any

ROWS = ("env-visible-devices",)
SOURCES = ("003:33-39",)
TORCH = "2.11"
NEEDS = ("cuda",)
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["gpu_still_used"]  # hidden too late: the context goes on working
    assert not good["gpu_still_used"]
