"""A non-blocking copy to the CPU may be read before it has arrived.

`t.to("cpu", non_blocking=True)` queues the copy and returns a CPU tensor whose memory is filled later. Nothing on the
CPU waits for it: reading at once gives zeros or old numbers, now and then, depending on how busy the GPU is. A loss
curve with odd spikes, a metric that is a little wrong.

Leave `non_blocking` out for copies to the CPU; the plain form waits. If you want the overlap, wait before you read:

```python
host = gpu.to("cpu", non_blocking=True)
...                                # other work
torch.cuda.synchronize()           # or event.synchronize()
print(host.sum())
```

From the CPU to the GPU it is safe: the GPU does its work in order.
"""

from typing import Any

ROWS = ()
SOURCES = (
    "https://github.com/pytorch/pytorch/issues/86264",
    "https://github.com/Lightning-AI/pytorch-lightning/issues/11287",
)
TORCH = "2.11, 2.15"
NEEDS = ("cuda",)
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert good["sum"] == good["expected"]
    assert bad["sum"] != bad["expected"]  # read before the copy had run
